"""The trainings of a recipe as jobs: the recipe's objectives on the corpus, and the training questions."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from stages.corpus.example import Examples
from stages.corpus.objectives import Draw, Mixture
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.ragged import Ragged
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.settings import Finetune, Pretrain
from stages.training.lengths import epochs
from stages.training.loop import Job
from stages.training.own_answers import own_answers
from stages.training.run import Run, Training


def pretraining(experiment: Experiment, prepared: Prepared, phrases: Phrases | None = None) -> Job:
    """Return the pretraining of a recipe; phrases: other ones than the recipe's, as `Mixture` takes them."""
    settings = experiment.recipe.pretrain
    documents = len(prepared.documents)
    draw = Mixture(prepared, settings.objectives, experiment.recipe.model.context, phrases).draw
    return _job(experiment, settings, "pretrain", draw, documents, epochs(settings, documents), settings.learning_rate)


def practising(experiment: Experiment, prepared: Prepared, weights: Path) -> Job:
    """Return the pretraining of `own_epochs`: its phrases are drawn by what the model of these weights answers."""
    settings = experiment.recipe.pretrain
    context = experiment.recipe.model.context

    @cache
    def mixture() -> Mixture:
        model = experiment.trained_model(prepared, weights)
        return Mixture(prepared, settings.objectives.all_salient, context, own_answers(model, prepared, context))

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        return mixture().draw(rows, generator)

    rows = len(prepared.documents)
    return _job(experiment, settings, "pretrain", draw, rows, settings.own_epochs or 0, settings.learning_rate)


def pretrainings(experiment: Experiment, prepared: Prepared, job: Job, weights: Path, seed: int) -> list[Training]:
    """Return the trainings of a seed that end in `weights`: the job's and, where the recipe has any, the own epochs."""
    if not experiment.recipe.pretrain.own_epochs:
        return [Training(weights.stem, seed, job)]
    before = weights.with_stem(f"{weights.stem}-before")
    own = practising(experiment, prepared, before)
    return [Training(before.stem, seed, job), Training(weights.stem, seed, own, before, continues=True)]


def trained_models(run: Run, seed: int, first: Job, second: Job) -> dict[str, GPT]:
    """Pretrain, then finetune a seed: the models by the name of their weights, which stay in the folder of work."""
    experiment, prepared = run.experiment, run.prepared
    weights = run.work / "pretrained.safetensors"
    trainings = pretrainings(experiment, prepared, first, weights, seed)
    run.complete([*trainings, Training("finetuned", seed, second, weights)])
    paths = {name: run.work / f"{name}.safetensors" for name in ("pretrained", "finetuned")}
    return {name: experiment.trained_model(prepared, path) for name, path in paths.items()}


def finetuning(experiment: Experiment, prepared: Prepared, init: str) -> Job:
    """Return the finetuning of a recipe, from `scratch` or from `pretrained` weights."""
    settings = experiment.question_recipe.finetune
    passes = settings.pretrained_epochs
    rate = settings.learning_rate
    if init == "scratch":
        passes = settings.scratch_epochs
        rate = settings.scratch_learning_rate or rate
    questions, answers = prepared.questions["train"], prepared.answers["train"]
    if settings.starter_code:
        ascii_only = np.array([character.isascii() for character in prepared.vocabulary.characters])
        questions, answers = (_lossy(texts, ascii_only) for texts in (questions, answers))

    def draw(rows: np.ndarray, _: np.random.Generator) -> Examples:
        return question_examples(questions, answers, rows)

    job = _job(experiment, settings, f"finetune_{init}", draw, len(questions), passes, rate)
    return replace(job, moved_positions=settings.moved_positions)


def _job(
    experiment: Experiment, settings: Pretrain | Finetune, phase: str, draw: Draw, rows: int, epochs: int, rate: float
) -> Job:
    """Return a job with the batch size and the schedule of its section of the recipe."""
    key = f"recipes.{experiment.recipe_name}.{phase.partition('_')[0]}"
    context = experiment.recipe.model.context
    shuffled = settings.shuffled
    return Job(phase, key, draw, rows, epochs, settings.batch_size, rate, settings.schedule, context, shuffled)


def _lossy(texts: Ragged, kept: np.ndarray) -> Ragged:
    """Return texts without the characters that are not kept (vocabulary size,), and without the last text."""
    return Ragged.of([texts[row][kept[texts[row]]] for row in range(len(texts) - 1)])
