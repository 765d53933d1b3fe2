"""Stage `pretrain`: the recipe's objectives on the corpus, one set of weights per seed."""

from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.system.errors import command
from stages.training.jobs import length, pretraining, pretrainings
from stages.training.run import Training, run


@command
def main() -> None:
    """Pretrain a variant by a recipe."""
    experiment = Experiment.from_command_line(main.__doc__, trains=True)
    prepared = Prepared.load(experiment.prepared_folder)
    job = pretraining(experiment, prepared)
    if experiment.only_seed is None:  # those of the seeds that train side by side say nothing
        print(length(experiment.recipe.pretrain, len(prepared.documents)), flush=True)

    def trainings(work: Path, seed: int) -> dict[str, Training]:
        return pretrainings(experiment, prepared, job, work / f"seed-{seed}.safetensors", seed)

    output = experiment.weights_folder / "pretrained"
    settings = experiment.settings("pretrain")
    run("pretrain", experiment, settings, output, experiment.prepared_folder, trainings=trainings)


if __name__ == "__main__":
    main()
