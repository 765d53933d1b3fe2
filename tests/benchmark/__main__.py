"""Time the plain reference and the fast path in alternating runs."""

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import torch
from tqdm import tqdm

from stages.corpus.prepared import Prepared
from stages.experiment.backend import choose_backend
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.model.registry import settings_of
from stages.settings import Settings, load
from stages.system.errors import StudyError, command
from tests.benchmark import results
from tests.benchmark.gemm import TOKENS, linear_weights, product, step_flop
from tests.benchmark.timing import Side, alternate
from tests.benchmark.workload import (
    Evaluation,
    FastTraining,
    PlainTraining,
    check_comparable,
    finetuned,
    read_data,
    untrained,
)
from tests.reference.attention import ATTENTION

FAST_STEPS = 4  # timed steps of the fast path a round; the plain loop's one takes longer than all of them
PRODUCTS = 10  # timed products a round
KERNELS = 12  # steps after which the fast path has met its usual shapes
ROUNDS_OF_EVALUATION = 5
PLAIN_QUESTIONS = 2  # a round of evaluation
INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--recipe", default="handout", help="whose model and hyper-parameters are timed")
    parser.add_argument("--data", type=Path, help="a folder of prepared data; else the recipe's, else invented data")
    parser.add_argument("--weights", type=Path, help="folder with <variant>/finetuned/; else the recipe's, if there")
    parser.add_argument("--variants", nargs="+", help="by default all that have a plain reference")
    parser.add_argument("--rounds", type=int, default=20, help="of plain and fast training, a variant (20: 2 min)")
    parser.add_argument("--questions", type=int, default=500, help="answered in an evaluation")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="by default that of params.yaml")
    parser.add_argument("--precision", choices=["auto", "float32", "bfloat16"], help="of the fast path; as device")
    parser.add_argument("--output", type=Path, default=Path("reports/benchmark.json"))
    parsed = parser.parse_args(arguments)
    if min(parsed.rounds, parsed.questions) < 1:
        parser.error("--rounds and --questions are at least 1")
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
    variants = chosen.variants or [variant for variant in settings.study.variants if variant in ATTENTION]
    for variant in variants:
        settings.check_variant(variant)
        if variant not in ATTENTION:
            raise StudyError(f"variant {variant!r} has no plain reference in tests/reference/attention.py to be timed")
    section = partial(settings_of, variants=settings.variants, model=recipe.model)
    return [Experiment(chosen.recipe, variant, recipe, section(variant), backend, 0.0) for variant in variants]


def compare_training(
    experiment: Experiment, prepared: Prepared, rounds: int, bar: "tqdm[NoReturn]"
) -> tuple[dict[str, Any], dict[str, float]]:
    """The comparison of training, and the peaks measured beside it: FLOP/s by number format."""
    plain, fast = PlainTraining(experiment, prepared), FastTraining(experiment, prepared)
    weights = linear_weights(plain.trainer.model)
    width, device, own = experiment.recipe.model.width, experiment.backend.device, experiment.backend.dtype
    sides = {"plain": Side(plain.step, 1, 1), "fast": Side(fast.step, KERNELS, FAST_STEPS)}
    products = {str(dtype): product(width, dtype, device) for dtype in {torch.float32, own}}
    sides |= {name: Side(multiply, PRODUCTS, PRODUCTS) for name, (multiply, _) in products.items()}
    seconds = alternate(sides, rounds, bar)
    peaks = {name: flop / statistics.median(seconds[name]) for name, (_, flop) in products.items()}
    documents = min(plain.job.rows, plain.job.batch_size)
    figures = []
    for name, side, dtype in (("plain", plain, torch.float32), ("fast", fast, own)):
        tokens = statistics.mean(side.tokens)
        flop = step_flop(weights, tokens)
        figures.append(results.training_side(seconds[name], documents, tokens, flop, peaks[str(dtype)]))
    return results.training(experiment.variant, *figures), peaks


def compare_evaluation(
    experiment: Experiment, prepared: Prepared, weights: Path, questions: int, bar: "tqdm[NoReturn]"
) -> list[dict[str, Any]]:
    """The comparisons of evaluation: with untrained weights, and with finetuned ones where the folder has them."""
    models = {"untrained": untrained(experiment, prepared), "finetuned": finetuned(experiment, prepared, weights)}
    comparisons = []
    for name, model in models.items():
        if model is None:
            bar.update(ROUNDS_OF_EVALUATION)
        else:
            work = Evaluation(experiment, prepared, model, questions)
            sides = {"plain": Side(work.one_question, 1, PLAIN_QUESTIONS), "fast": Side(work.all_questions, 1, 1)}
            seconds = alternate(sides, ROUNDS_OF_EVALUATION, bar)
            figures = (len(work.prompts), seconds["plain"], seconds["fast"])
            comparisons.append(results.evaluation(experiment.variant, name, *figures))
    return comparisons


def benchmark(chosen: argparse.Namespace) -> None:
    """Run all comparisons, print the table and write the file."""
    started = time.monotonic()
    cells = experiments(load(), chosen)
    prepared, data = read_data(chosen.recipe, chosen.data)
    weights = chosen.weights or Path("data/weights") / chosen.recipe
    comparisons, peaks = [], []
    with tqdm(total=len(cells) * (chosen.rounds + 2 * ROUNDS_OF_EVALUATION), unit="round") as bar:
        for experiment in cells:
            bar.set_description(experiment.variant)
            comparison, peak = compare_training(experiment, prepared, chosen.rounds, bar)
            comparisons.append(comparison)
            peaks.append(peak)
            comparisons += compare_evaluation(experiment, prepared, weights, chosen.questions, bar)
    backend, width = cells[0].backend, cells[0].recipe.model.width
    instructions = os.environ.get(INSTRUCTIONS)
    settings = {cell.variant: cell.settings("pretrain", "generation") for cell in cells}
    run = {
        **provenance(settings, backend, time.monotonic() - started),
        INSTRUCTIONS: instructions,
        "recipe": chosen.recipe,
        "data": data,
        "rounds": chosen.rounds,
        "gemm": {
            "shape": f"({TOKENS}, {width}) x ({width}, {4 * width})",
            "tflop_per_second": {
                name.removeprefix("torch."): round(statistics.median(peak[name] for peak in peaks) / 1e12, 4)
                for name in sorted(peaks[0])
            },
        },
        "notes": {
            "plain": "one padded batch of whole contexts, float32, AdamW not fused",
            "fast": f"the study's own step, {backend.precision}; evaluation in float32, as in the study",
            "tokens": "characters that are read, without PAD",
            "flop": "6 a linear weight and token; attention's own products are not counted",
            "untrained": "weights that never say the mask: every answer has all its characters",
            "finetuned": "answers end at the mask on the fast side; the plain side cuts them there afterwards",
        },
        "comparisons": comparisons,
    }
    name = results.key(backend.device.type, backend.precision, instructions)
    results.save(chosen.output, name, run)
    print(f"{name}: {backend.device_name}, torch {torch.__version__}; {data}")
    print(results.table(comparisons))
    print(f"written to {chosen.output}")


@command
def main() -> None:
    """Time the plain reference and the fast path, as the command line says."""
    benchmark(parse(None))


if __name__ == "__main__":
    main()
