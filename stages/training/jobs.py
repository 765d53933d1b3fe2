"""The trainings of a recipe as jobs: the recipe's objectives on the corpus, and the training questions."""

from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from stages.corpus.example import Examples
from stages.corpus.objectives import Draw, Mixture
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.experiment.experiment import Experiment
from stages.settings import Pretrain
from stages.training.batches import steps_per_epoch
from stages.training.loop import Job
from stages.training.own_answers import own_answers
from stages.training.run import Training


def epochs(settings: Pretrain, documents: int) -> int:
    """Return the passes over so many documents: the recipe's, or as many as its `least_steps` take."""
    return max(settings.epochs, ceil((settings.least_steps or 0) / steps_per_epoch(documents, settings.batch_size)))


def length(settings: Pretrain, documents: int) -> str:
    """Return a line that says how long a pretraining on so many documents is."""
    passes = epochs(settings, documents) + (settings.own_epochs or 0)
    steps = passes * steps_per_epoch(documents, settings.batch_size)
    return f"Pretraining: documents {documents:,}, epochs {passes:,}, steps {steps:,}."


def pretraining(experiment: Experiment, prepared: Prepared, phrases: Phrases | None = None) -> Job:
    """Return the pretraining of a recipe; phrases: other ones than the recipe's, as `Mixture` takes them."""
    settings, context = experiment.recipe.pretrain, experiment.recipe.model.context
    draw = Mixture(prepared, settings.objectives, context, phrases).draw
    return _job(experiment, prepared, draw, epochs(settings, len(prepared.documents)))


def practising(experiment: Experiment, prepared: Prepared, weights: Path) -> Job:
    """Return the pretraining of `own_epochs`: its phrases are drawn by what the model of these weights answers."""
    settings, context = experiment.recipe.pretrain, experiment.recipe.model.context

    @cache
    def mixture() -> Mixture:
        model = experiment.trained_model(prepared, weights)
        return Mixture(prepared, settings.objectives.all_salient, context, own_answers(model, prepared, context))

    return _job(experiment, prepared, lambda rows, generator: mixture().draw(rows, generator), settings.own_epochs or 0)


def _job(experiment: Experiment, prepared: Prepared, draw: Draw, epochs: int) -> Job:
    settings = experiment.recipe.pretrain
    return Job(
        "pretrain",
        f"recipes.{experiment.recipe_name}.pretrain",
        draw,
        rows=len(prepared.documents),
        epochs=epochs,
        batch_size=settings.batch_size,
        peak_rate=settings.learning_rate,
        schedule=settings.schedule,
        context=experiment.recipe.model.context,
    )


def pretrainings(experiment: Experiment, prepared: Prepared, job: Job, weights: Path, seed: int) -> list[Training]:
    """Return the trainings of a seed that end in `weights`: the job's and, where the recipe has any, the own epochs."""
    if not experiment.recipe.pretrain.own_epochs:
        return [Training(weights.stem, seed, job)]
    before = weights.with_stem(f"{weights.stem}-before")
    own = practising(experiment, prepared, before)
    return [Training(before.stem, seed, job), Training(weights.stem, seed, own, before, continues=True)]


def finetuning(experiment: Experiment, prepared: Prepared, init: str) -> Job:
    """Return the finetuning of a recipe, from `scratch` or from `pretrained` weights."""
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
