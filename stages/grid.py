"""Stage `grid`: variants trained on recipe `text` by hidden size and learning rate, and what each says then."""

import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.decoding import Sampler, Sampling
from stages.inference.generation import passage
from stages.pretrain import pretraining
from stages.settings import PARAMS, Recipe, Settings, check, load, merged
from stages.system.digests import result_folder
from stages.system.errors import Parser, command
from stages.system.files import write_json
from stages.training.run import Training, run

RECIPE = "text"
FOLDER = Path("data/grid")  # <cell>/: weights; results/: what the report shows
CHARACTERS, TEMPERATURE = 300, 0.8  # of each passage


@command
def main() -> None:
    """Train every cell of section `grid`, and write losses and passages."""
    Parser(prog="python -m stages.grid", description=main.__doc__).parse_args()
    settings, started = load(), time.perf_counter()
    grid, prepared = settings.grid, Prepared.load(Path("data/prepared") / RECIPE)
    choices = [*product(grid.variants, grid.widths, grid.learning_rates)]
    cells = [cell(settings, prepared, *choice) for choice in tqdm(choices, desc="grid")]
    backend = Experiment.of(settings, RECIPE, grid.variants[0]).backend
    made = provenance(grid.model_dump(), backend, time.perf_counter() - started)
    with result_folder(FOLDER / "results") as folder:
        write_json(folder / "grid.json", {"cells": cells, "provenance": made})


def cell(settings: Settings, prepared: Prepared, variant: str, width: int, rate: float) -> dict[str, Any]:
    """Train one cell, a model for the recipe's first seed: its settings, loss of each epoch, and a passage."""
    recipe = settings.recipe_named(RECIPE)
    seed = recipe.seeds[0]
    changes = {"seeds": [seed], "model": {"width": width}, "pretrain": {"learning_rate": rate}}
    changed = check(Recipe, merged(recipe.model_dump(), changes), str(PARAMS), "grid")
    experiment = Experiment.of(
        settings.model_copy(update={"recipes": settings.recipes | {RECIPE: changed}}), RECIPE, variant
    )
    job, output = pretraining(experiment, prepared), FOLDER / f"{variant}-{width}-{rate:g}"

    def trainings(_: Path, seed: int) -> dict[str, Training]:
        return {f"seed-{seed}": Training(job, partial(experiment.new_model, prepared, seed))}

    run("grid", experiment, experiment.settings("pretrain"), output, experiment.prepared_folder, trainings=trainings)
    model = experiment.trained_model(prepared, output / f"seed-{seed}.safetensors")
    start = prepared.vocabulary.encode("\n")
    said = passage(model, start, CHARACTERS, Sampler(Sampling(TEMPERATURE), seed))
    return {
        "variant": variant,
        "width": width,
        "learning_rate": rate,
        "parameters": sum(each.numel() for each in model.parameters()),
        "losses": pd.read_csv(output / f"seed-{seed}.csv").loss.tolist(),
        "passage": "".join(map(prepared.vocabulary.decode, said)),
    }


if __name__ == "__main__":
    main()
