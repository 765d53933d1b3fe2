"""Stage `finetune`: the training questions, from scratch and from pretrained weights, per seed."""

from functools import partial
from pathlib import Path

import numpy as np

from stages.corpus.example import Examples
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.experiment.experiment import Experiment
from stages.system.errors import command
from stages.training.loop import Job
from stages.training.run import Training, run


def finetuning(experiment: Experiment, prepared: Prepared, init: str) -> Job:
    """The finetuning of a recipe, from `scratch` or from `pretrained` weights."""
    settings = experiment.question_recipe.finetune
    epochs, rate = settings.pretrained_epochs, settings.learning_rate
    if init == "scratch":
        epochs, rate = settings.scratch_epochs, settings.scratch_learning_rate or rate
    questions, answers = prepared.questions["train"], prepared.answers["train"]

    def draw(rows: np.ndarray, _: np.random.Generator) -> Examples:
        return question_examples(questions, answers, rows)

    return Job(
        f"finetune_{init}",
        f"recipes.{experiment.recipe_name}.finetune",
        draw,
        rows=len(questions),
        epochs=epochs,
        batch_size=settings.batch_size,
        peak_rate=rate,
        schedule=settings.schedule,
        context=experiment.recipe.model.context,
    )


@command
def main() -> None:
    """Finetune a variant by a recipe."""
    experiment = Experiment.from_command_line(main.__doc__, trains=True)
    prepared = Prepared.load(experiment.prepared_folder)
    pretrained = experiment.weights_folder / "pretrained"
    experiment.check_weights(pretrained, prepared.vocabulary, "optimizer", "pretrain")
    jobs = {init: finetuning(experiment, prepared, init) for init in ("scratch", "pretrained")}

    def trainings(_: Path, seed: int) -> dict[str, Training]:
        weights = pretrained / f"seed-{seed}.safetensors"
        first_weights = {
            "scratch": partial(experiment.new_model, prepared, seed),
            "pretrained": partial(experiment.trained_model, prepared, weights),
        }
        return {f"{init}-seed-{seed}": Training(jobs[init], model) for init, model in first_weights.items()}

    output = experiment.weights_folder / "finetuned"
    settings = experiment.settings("finetune", "pretrain")
    run("finetune", experiment, settings, output, experiment.prepared_folder, pretrained, trainings=trainings)


if __name__ == "__main__":
    main()
