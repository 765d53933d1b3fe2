"""Time the plain reference and the fast path in alternating runs."""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from stages.corpus.prepared import Prepared
from stages.experiment.backend import choose_backend
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.model.registry import settings_of
from stages.settings import Settings, load
from stages.system.errors import StudyError, command
from stages.system.files import read_json, write_json
from tests.benchmark.gemm import linear_weights, product, step_flop
from tests.benchmark.workload import Evaluation, FastTraining, PlainTraining, check_comparable, read_data
from tests.reference.attention import ATTENTION

FAST_STEPS = 4  # timed steps of the fast path a round; the plain loop's one takes longer than all of them
WARM_UP = 12  # steps after which the fast path has met its usual shapes
ROUNDS_OF_EVALUATION = 5
PRODUCTS = 20  # of the size of a step, for the peak that its share is taken of
PLAIN_QUESTIONS = 2  # a round of evaluation
INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA"
OUTPUT = Path("reports/benchmark.json")
NOTES = {
    "plain": "one padded batch of whole contexts, float32, AdamW not fused; questions one at a time, scaled up",
    "fast": "the study's own step; evaluation in float32, as in the study",
    "share_of_gemm_peak": "6 operations a linear weight and token; attention's own products are not counted",
    "evaluation": "weights that never say the mask: every answer has all its characters",
}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--recipe", default="handout", help="whose model and hyper-parameters are timed")
    parser.add_argument("--variants", nargs="+", help="by default all that have a plain reference")
    parser.add_argument("--rounds", type=int, default=20, help="of plain and fast training, a variant (20: 2 min)")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="by default that of params.yaml")
    parser.add_argument("--precision", choices=["auto", "float32", "bfloat16"], help="of the fast path; as device")
    parsed = parser.parse_args(arguments)
    if parsed.rounds < 1:
        parser.error("--rounds is at least 1")
    return parsed


def experiments(settings: Settings, chosen: argparse.Namespace) -> list[Experiment]:
    """One experiment a variant: of those chosen, or of all that have a plain reference.

    Raises:
        StudyError: there is no such recipe, variant or device, or the plain reference does not know recipe or variant.
    """
    recipe = settings.recipe_named(chosen.recipe)
    check_comparable(chosen.recipe, recipe)
    asked = {name: getattr(chosen, name) for name in ("device", "precision") if getattr(chosen, name)}
    backend = choose_backend(settings.compute.model_copy(update=asked))
    cells = []
    for variant in chosen.variants or [variant for variant in settings.study.variants if variant in ATTENTION]:
        settings.check_variant(variant)
        if variant not in ATTENTION:
            raise StudyError(f"variant {variant!r} has no plain reference in tests/reference/attention.py to be timed")
        section = settings_of(variant, settings.variants, recipe.model)
        cells.append(Experiment(chosen.recipe, variant, recipe, section, backend, 0.0))
    return cells


def alternate(
    plain: Callable[[], object], fast: Callable[[], object], repeats: tuple[int, int], warm_up: int, rounds: int
) -> tuple[list[float], list[float]]:
    """Seconds of each run of both, in turn: `repeats` runs of each a round, after one and `warm_up` that do not count.

    Both return when their result is there, on a GPU too.
    """
    plain()
    for _ in range(warm_up):
        fast()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, runs, measured in zip((plain, fast), repeats, seconds, strict=True):
            for _ in range(runs):
                started = time.perf_counter()
                work()
                measured.append(time.perf_counter() - started)
    return seconds


def comparison(variant: str, what: str, plain: list[float], fast: list[float], is_rate: bool = False) -> dict[str, Any]:
    """Both sides' figures, of which the larger are the better if they are rates; how many times better fast is."""
    sides = {
        name: {"median": round(statistics.median(each), 6), "min": round(min(each), 6), "max": round(max(each), 6)}
        for name, each in (("plain", plain), ("fast", fast))
    }
    ratio = sides["plain"]["median"] / sides["fast"]["median"]
    return {"variant": variant, "what": what, "ratio": round(1 / ratio if is_rate else ratio, 2), **sides}


def compare(experiment: Experiment, prepared: Prepared, rounds: int) -> list[dict[str, Any]]:
    """The comparisons of training and of evaluation."""
    training = PlainTraining(experiment, prepared), FastTraining(experiment, prepared)
    seconds = alternate(training[0].step, training[1].step, (1, FAST_STEPS), WARM_UP, rounds)
    documents = min(training[0].job.rows, training[0].job.batch_size)
    rates = ([documents / each for each in side] for side in seconds)
    rate = step_flop(linear_weights(training[1].trainer.model), training[1].tokens()) / statistics.median(seconds[1])
    multiply, flop = product(experiment.recipe.model.width, experiment.backend.dtype, experiment.backend.device)
    peak = flop / statistics.median(alternate(multiply, multiply, (1, PRODUCTS), PRODUCTS, 1)[1])

    work = Evaluation(experiment, prepared)
    plain, fast = alternate(work.one_question, work.all_questions, (PLAIN_QUESTIONS, 1), 1, ROUNDS_OF_EVALUATION)
    questions = len(work.prompts)
    return [
        comparison(experiment.variant, "training, documents/s", *rates, is_rate=True)
        | {"share_of_gemm_peak": round(rate / peak, 3), "gemm_tflop_per_second": round(peak / 1e12, 4)},
        comparison(experiment.variant, f"{questions} questions, s", [questions * each for each in plain], fast),
    ]


def benchmark(chosen: argparse.Namespace) -> None:
    """Run all comparisons, print the table, and write the file, in which a run replaces those of its own settings."""
    started = time.monotonic()
    cells = experiments(load(), chosen)
    prepared, data = read_data(chosen.recipe)
    print(f"{'variant':20}{'':24}{'plain':>10}{'fast':>10}{'ratio':>8}")
    comparisons = []
    for experiment in cells:
        for each in compare(experiment, prepared, chosen.rounds):
            plain, fast = each["plain"]["median"], each["fast"]["median"]
            share = f"  {each['share_of_gemm_peak']:.1%} of the GEMM peak" if "share_of_gemm_peak" in each else ""
            row = f"{each['variant']:20}{each['what']:24}{plain:10,.2f}{fast:10,.2f}{each['ratio']:8.1f}{share}"
            print(row, flush=True)
            comparisons.append(each)
    backend, instructions = cells[0].backend, os.environ.get(INSTRUCTIONS)
    run = {
        **provenance({cell.variant: cell.settings() for cell in cells}, backend, time.monotonic() - started),
        INSTRUCTIONS: instructions,
        "recipe": chosen.recipe,
        "data": data,
        "rounds": chosen.rounds,
        "notes": NOTES,
        "comparisons": comparisons,
    }
    name = " ".join([backend.device.type, backend.precision, *([instructions] if instructions else [])])
    runs = read_json(OUTPUT) if OUTPUT.exists() else {}
    write_json(OUTPUT, dict(sorted({**runs, name: run}.items())))
    print(f"{name}: {backend.device_name}, torch {torch.__version__}; {data}; written to {OUTPUT}")


@command
def main() -> None:
    """Time the plain reference and the fast path, as the command line says."""
    benchmark(parse(None))


if __name__ == "__main__":
    main()
