"""Stage `finetune`: the training questions, from scratch and from pretrained weights, per seed."""

from pathlib import Path

from stages.experiment.cell import Cell
from stages.system.errors import command
from stages.training.seeds import train_and_publish

INITS = ("scratch", "pretrained")  # the weights that finetuning begins with


@command
def main() -> None:
    """Finetune a variant by a recipe."""
    cell = Cell.from_command_line(main.__doc__, trains=True)
    names = [f"{init}-seed-{seed}" for seed in cell.seeds for init in INITS]
    train_and_publish("finetune", cell, train_here, names, cell.weights_folder / "finetuned")


def train_here(cell: Cell) -> Path:
    """Train the cell's seeds, one after the other, and return the folder of work with their results."""
    # imported here, as they load torch, which neither --help nor the parent of the seeds' processes needs
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment
    from stages.training.jobs import finetuning
    from stages.training.run import Run, Training

    experiment = Experiment.to_train(cell)
    prepared = Prepared.load(experiment.prepared_folder)
    pretrained = cell.weights_folder / "pretrained"
    experiment.check_weights(pretrained, prepared.vocabulary, "optimizer", "pretrain")
    scratch, finetune = (finetuning(experiment, prepared, init) for init in INITS)
    trainings = []
    for seed in cell.seeds:
        trainings.append(Training(f"scratch-seed-{seed}", seed, scratch))
        trainings.append(Training(f"pretrained-seed-{seed}", seed, finetune, pretrained / f"seed-{seed}.safetensors"))

    settings = experiment.settings("finetune", "pretrain")
    run = Run("finetune", experiment, prepared, settings, experiment.prepared_folder, pretrained)
    run.complete(trainings)
    return run.work


if __name__ == "__main__":
    main()
