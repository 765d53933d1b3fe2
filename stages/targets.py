"""Stage `targets`: at which outputs of the model a recipe's pretraining has its targets."""

import argparse
from pathlib import Path

import numpy as np

from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared, write_table
from stages.corpus.target_positions import target_positions
from stages.settings import load
from stages.system.errors import command
from stages.system.files import new_folder


@command
def main() -> None:
    """Draw examples by a recipe's own objectives and count their targets by place."""
    parser = argparse.ArgumentParser(prog="python -m stages.targets", description=main.__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    name = parser.parse_args().recipe
    settings = load()
    recipe, wanted = settings.recipe_named(name), settings.influence
    prepared = Prepared.load(Path("data/prepared") / name)
    context = recipe.model.context
    mixture = Mixture(prepared, recipe.pretrain.objectives, context)
    generator = np.random.default_rng(wanted.seed)
    counts = target_positions(mixture, len(prepared.documents), context, wanted.passes, generator)
    with new_folder(Path("data/targets") / name) as folder:
        write_table(folder / "targets.tsv", counts)


if __name__ == "__main__":
    main()
