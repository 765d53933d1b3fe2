"""Stage `pretrain`: the recipe's objectives on the corpus, one set of weights per seed."""

from functools import partial

from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.errors import command
from stages.training.experiment import Experiment
from stages.training.loop import Task
from stages.training.run import run


def pretraining(experiment: Experiment, prepared: Prepared) -> Task:
    """The pretraining of a recipe."""
    settings = experiment.recipe.pretrain
    objectives = Mixture(prepared, settings.objectives, experiment.recipe.model.context)

    return Task(
        "pretrain",
        objectives.draw,
        rows=len(prepared.documents),
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        peak_rate=settings.learning_rate,
        schedule=settings.schedule,
        context=experiment.recipe.model.context,
    )


@command
def main() -> None:
    """Pretrain a variant by a recipe."""
    experiment = Experiment.from_command_line(main.__doc__)
    prepared = Prepared.load(experiment.prepared_folder)
    task = pretraining(experiment, prepared)
    output = experiment.weights_folder / "pretrained"
    with run("pretrain", experiment, experiment.settings("pretrain"), output, experiment.prepared_folder) as work:
        for seed in experiment.recipe.seeds:
            work.complete(f"seed-{seed}", task, seed, partial(experiment.new_model, prepared, seed))


if __name__ == "__main__":
    main()
