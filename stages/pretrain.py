"""Stage `pretrain`: the recipe's objectives on the corpus, one set of weights per seed."""

import sys
from pathlib import Path

from stages.experiment.cell import Cell
from stages.system.errors import command
from stages.training.seeds import train_and_publish


@command
def main() -> None:
    """Pretrain a variant by a recipe."""
    cell = Cell.from_command_line(main.__doc__, trains=True)
    names = [f"seed-{seed}" for seed in cell.seeds]
    train_and_publish("pretrain", cell, train_here, names, cell.weights_folder / "pretrained")


def train_here(cell: Cell) -> Path:
    """Train the cell's seeds, one after the other, and return the folder of work with their results."""
    # imported here, as they load torch, which neither --help nor the parent of the seeds' processes needs
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment
    from stages.training.jobs import pretraining, pretrainings
    from stages.training.lengths import length
    from stages.training.run import Run

    experiment = Experiment.to_train(cell)
    prepared = Prepared.load(experiment.prepared_folder)
    job = pretraining(experiment, prepared)
    run = Run("pretrain", experiment, prepared, experiment.settings("pretrain"), experiment.prepared_folder)
    trainings = []
    for seed in cell.seeds:
        trainings += pretrainings(experiment, prepared, job, run.work / f"seed-{seed}.safetensors", seed)

    if cell.only_seed in (None, cell.recipe.seeds[0]):  # of seeds side by side only the first prints it
        print(length(cell.recipe.pretrain, len(prepared.documents)), file=sys.stderr)
    run.complete(trainings)
    return run.work


if __name__ == "__main__":
    main()
