"""The phases of a recipe: its objectives on the corpus, self-training, and the training questions.

In self-training the model is asked the commonest training question about every page, and how likely it finds each
phrase of the page. So it finds out what is asked, and trains on that: its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.example import Examples, answer_sequence
from stages.corpus.objectives import Mixture
from stages.corpus.phrases import Phrases, as_probabilities
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.text import Ragged
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.settings import Pretrain
from stages.training.loop import train_to
from stages.training.step import Phase, steps_per_epoch


def self_labels(model: GPT, prepared: Prepared, context: int) -> Phrases:
    """Weigh the phrases of each page by their likelihood as an answer to the question about the page.

    context: the longest sequence that the model can read; longer questions and phrases are cut at their ends.
    """
    phrases = prepared.capitalised
    form = prepared.question_forms[0]
    sequences, first_targets = [], []
    for row in range(len(prepared.documents)):
        question = prepared.vocabulary.encode(form.about(prepared.title(row)))
        for start, end in phrases.spans[row].tolist():
            phrase = prepared.documents[row][start:end][: context // 2]
            asked = question[: context - len(phrase) - 1]
            sequences.append(answer_sequence(asked, phrase))
            first_targets.append(len(asked) + 1)
    log_likelihoods, _ = read_targets(model, sequences, first_targets)
    return phrases.chosen(map(as_probabilities, np.split(log_likelihoods, phrases.spans.offsets[1:-1])))


def epochs(settings: Pretrain, documents: int) -> int:
    """Return the passes over so many documents: the recipe's, or as many as its `least_steps` take."""
    return max(settings.epochs, ceil((settings.least_steps or 0) / steps_per_epoch(documents, settings.batch_size)))


def pretraining(experiment: Experiment, prepared: Prepared) -> Phase:
    """Return the pretraining of a recipe, without self-training."""
    settings, context = experiment.recipe.pretrain, experiment.recipe.model.context
    draw = Mixture(prepared, settings.objectives, context).draw
    documents = len(prepared.documents)
    key = f"recipes.{experiment.recipe_name}.pretrain"
    return Phase("pretrain", key, draw, documents, epochs(settings, documents), settings, context)


def pretrain(
    weights: Path, experiment: Experiment, prepared: Prepared, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Pretrain a seed, self-training included, and return the record; arguments as of `train_to`.

    In self-training phrases are drawn by the answers of the model that the epochs before it trained.
    """
    first, recipe = pretraining(experiment, prepared), experiment.recipe
    if not recipe.pretrain.self_training_epochs:
        return train_to(weights, experiment, prepared, first, seed, settings)
    before = weights.with_stem(f"{weights.stem}-before")
    train_to(before, experiment, prepared, first, seed, settings)

    @cache
    def mixture() -> Mixture:
        labels = self_labels(experiment.trained_model(prepared, before), prepared, recipe.model.context)
        return Mixture(prepared, recipe.pretrain.objectives.all_salient, recipe.model.context, labels)

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        return mixture().draw(rows, generator)  # labelled at the first step, which a training that has ended lacks

    self_training = replace(first, draw=draw, epochs=recipe.pretrain.self_training_epochs)
    return train_to(weights, experiment, prepared, self_training, seed, settings, before, continues=True)


def finetuning(experiment: Experiment, prepared: Prepared, init: str) -> Phase:
    """Return the finetuning of a recipe, from `scratch` or from `pretrained` weights."""
    settings = experiment.question_recipe.finetune
    passes = settings.pretrained_epochs
    if init == "scratch":
        passes = settings.scratch_epochs
        settings = settings.model_copy(
            update={"learning_rate": settings.scratch_learning_rate or settings.learning_rate}
        )
    questions, answers = prepared.questions["train"], prepared.answers["train"]
    if settings.starter_code:
        ascii_only = np.array([character.isascii() for character in prepared.vocabulary.characters])
        questions, answers = (_lossy(texts, ascii_only) for texts in (questions, answers))

    def draw(rows: np.ndarray, _: np.random.Generator) -> Examples:
        return question_examples(questions, answers, rows)

    key = f"recipes.{experiment.recipe_name}.finetune"
    return Phase(f"finetune_{init}", key, draw, len(questions), passes, settings, experiment.recipe.model.context)


def _lossy(texts: Ragged, kept: np.ndarray) -> Ragged:
    """Return texts without the characters that are not kept (vocabulary size,), and without the last text."""
    return Ragged.of([texts[row][kept[texts[row]]] for row in range(len(texts) - 1)])
