"""Time the plain reference and the fast path in alternating runs."""

import argparse
import os
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
from tests.benchmark.timing import Side, alternate
from tests.benchmark.workload import Evaluation, FastTraining, PlainTraining, check_comparable, read_data
from tests.reference.attention import ATTENTION

FAST_STEPS = 4  # timed steps of the fast path a round; the plain loop's one takes longer than all of them
WARM_UP = 12  # steps after which the fast path has met its usual shapes
ROUNDS_OF_EVALUATION = 5
PLAIN_QUESTIONS = 2  # a round of evaluation
INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA"
OUTPUT = Path("reports/benchmark.json")
NOTES = {
    "plain": "one padded batch of whole contexts, float32, AdamW not fused",
    "fast": "the study's own step; evaluation in float32, as in the study",
    "tokens": "characters that are read, without PAD",
    "evaluation": "weights that never say the mask: every answer has all its characters",
}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--recipe", default="handout", help="whose model and hyper-parameters are timed")
    parser.add_argument("--data", type=Path, help="a folder of prepared data; else the recipe's, else invented data")
    parser.add_argument("--variants", nargs="+", help="by default all that have a plain reference")
    parser.add_argument("--rounds", type=int, default=20, help="of plain and fast training, a variant (20: 2 min)")
    parser.add_argument("--questions", type=int, default=500, help="answered in an evaluation")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="by default that of params.yaml")
    parser.add_argument("--precision", choices=["auto", "float32", "bfloat16"], help="of the fast path; as device")
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


def compare(
    experiment: Experiment, prepared: Prepared, chosen: argparse.Namespace, bar: "tqdm[NoReturn]"
) -> list[dict[str, Any]]:
    """The comparisons of training and of evaluation."""
    plain, fast = PlainTraining(experiment, prepared), FastTraining(experiment, prepared)
    sides = {"plain": Side(plain.step, 1, 1), "fast": Side(fast.step, WARM_UP, FAST_STEPS)}
    training = alternate(sides, chosen.rounds, bar)
    documents = min(plain.job.rows, plain.job.batch_size)
    figures = (results.training_side(training[name], documents, side.tokens)
               for name, side in (("plain", plain), ("fast", fast)))  # fmt: skip

    work = Evaluation(experiment, prepared, chosen.questions)
    sides = {"plain": Side(work.one_question, 1, PLAIN_QUESTIONS), "fast": Side(work.all_questions, 1, 1)}
    evaluation = alternate(sides, ROUNDS_OF_EVALUATION, bar)
    return [
        results.training(experiment.variant, *figures),
        results.evaluation(experiment.variant, len(work.prompts), evaluation["plain"], evaluation["fast"]),
    ]


def benchmark(chosen: argparse.Namespace) -> None:
    """Run all comparisons, print the table and write the file."""
    started = time.monotonic()
    cells = experiments(load(), chosen)
    prepared, data = read_data(chosen.recipe, chosen.data)
    comparisons = []
    with tqdm(total=len(cells) * (chosen.rounds + ROUNDS_OF_EVALUATION), unit="round") as bar:
        for experiment in cells:
            bar.set_description(experiment.variant)
            comparisons += compare(experiment, prepared, chosen, bar)
    backend, instructions = cells[0].backend, os.environ.get(INSTRUCTIONS)
    settings = {cell.variant: cell.settings("pretrain", "generation") for cell in cells}
    run = {
        **provenance(settings, backend, time.monotonic() - started),
        INSTRUCTIONS: instructions,
        "recipe": chosen.recipe,
        "data": data,
        "rounds": chosen.rounds,
        "notes": NOTES,
        "comparisons": comparisons,
    }
    name = results.key(backend.device.type, backend.precision, instructions)
    results.save(OUTPUT, name, run)
    print(f"{name}: {backend.device_name}, torch {torch.__version__}; {data}")
    print(results.table(comparisons))
    print(f"written to {OUTPUT}")


@command
def main() -> None:
    """Time the plain reference and the fast path, as the command line says."""
    benchmark(parse(None))


if __name__ == "__main__":
    main()
