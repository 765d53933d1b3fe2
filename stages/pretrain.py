"""Stage `pretrain`: the recipe's objectives on the corpus, one set of weights per seed."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.system.errors import command
from stages.training.loop import Job
from stages.training.run import Training, run


def pretraining(experiment: Experiment, prepared: Prepared, chosen: Iterable[Sequence[float]] | None = None) -> Job:
    """The pretraining of a recipe; chosen: other chances of the phrases than the recipe's, as `Mixture` takes them."""
    settings = experiment.recipe.pretrain
    objectives = Mixture(prepared, settings.objectives, experiment.recipe.model.context, chosen)

    return Job(
        "pretrain",
        f"recipes.{experiment.recipe_name}.pretrain",
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
    experiment = Experiment.from_command_line(main.__doc__, trains=True)
    prepared = Prepared.load(experiment.prepared_folder)
    job = pretraining(experiment, prepared)

    def trainings(_: Path, seed: int) -> dict[str, Training]:
        return {f"seed-{seed}": Training(job, partial(experiment.new_model, prepared, seed))}

    output = experiment.weights_folder / "pretrained"
    settings = experiment.settings("pretrain")
    run("pretrain", experiment, settings, output, experiment.prepared_folder, trainings=trainings)


if __name__ == "__main__":
    main()
