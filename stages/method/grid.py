"""Stage `grid`: variants trained on a text by hidden size and learning rate, with passages that they write."""

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.decoding import Sampler
from stages.inference.generation import passages
from stages.settings import Settings, load
from stages.system.digests import result_folder
from stages.system.errors import Parser, command
from stages.system.files import write_json
from stages.system.records import CURVES, read_table
from stages.training.jobs import pretraining
from stages.training.run import Run, Training

CHARACTERS = 300  # of a passage
PASSAGES = 20  # a model, for its share of non-words
TEMPERATURE = 0.8


@command
def main() -> None:
    """Train every cell of section `grid`, each for the recipe's first seed, and write losses and passages."""
    Parser(description=main.__doc__).parse_args()
    started = time.perf_counter()
    settings = load()
    sizes = [(variant, width) for variant, widths in settings.grid.widths.items() for width in widths]
    choices = [(*size, rate) for size, rate in product(sizes, settings.grid.learning_rates)]
    experiments = [cell(settings, *choice) for choice in choices]  # a wrong one is refused before any is trained
    prepared = Prepared.load(experiments[0].prepared_folder)

    cells = []
    for number, (experiment, choice) in enumerate(zip(experiments, choices, strict=True), 1):
        variant, width, rate = choice
        print(f"{number} of {len(experiments)}: {variant}, hidden size {width}, learning rate {rate:g}")
        cells.append({"variant": variant, "width": width, "learning_rate": rate} | trained(experiment, prepared))
    made = provenance(settings.grid.model_dump(), experiments[0].backend, time.perf_counter() - started)
    with result_folder(Path("data/grid")) as folder:
        write_json(folder / "grid.json", {"cells": cells, "provenance": made})


def cell(settings: Settings, variant: str, width: int, rate: float) -> Experiment:
    """Return the grid's recipe with that width and rate. Raises StudyError: the result is no valid recipe."""
    name = settings.grid.recipe
    change = {"model": {"width": width}, "pretrain": {"learning_rate": rate}}
    seed = settings.recipe_named(name).seeds[0]
    return Experiment.of(settings.with_change(name, change, seed, "grid"), name, variant)


def trained(experiment: Experiment, prepared: Prepared) -> dict[str, Any]:
    """Train a cell; return the number of parameters, the loss of each epoch, a passage, and the share of non-words."""
    (seed,) = experiment.recipe.seeds
    job = pretraining(experiment, prepared)
    run = Run("grid", experiment, prepared, experiment.settings("pretrain"), experiment.prepared_folder)
    run.complete([Training(f"seed-{seed}", seed, job)])

    weights = run.work / f"seed-{seed}.safetensors"
    model = experiment.trained_model(prepared, weights)
    beginnings = np.tile(prepared.vocabulary.encode("\n"), (PASSAGES, 1))
    written = np.hstack([*passages(model, beginnings, CHARACTERS, Sampler(seed, TEMPERATURE))])
    texts = [prepared.vocabulary.decode(passage) for passage in written]
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "losses": read_table(weights.with_suffix(".csv"), CURVES, ",").loss.tolist(),
        "passage": texts[0],
        "non_words": round(non_words(texts, prepared.vocabulary.decode(prepared.documents.tokens)), 4),
    }


def non_words(passages: Sequence[str], text: str) -> float:
    """Return the share of the passages' words that the text does not have; the last one of each is cut short."""
    words = [word for passage in passages for word in passage.split()[:-1]]
    known = {*text.split()}
    return float(np.mean([word not in known for word in words])) if words else 0.0


if __name__ == "__main__":
    main()
