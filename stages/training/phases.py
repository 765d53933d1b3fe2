"""The phases of a recipe: its objectives on the corpus, self-training, and the training questions.

In self-training the model is asked the commonest training question about every page, and how likely it finds each
phrase of the page. So it finds out what is asked, and trains on that: its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.example import Examples, answer_sequence
from stages.corpus.objectives import Draw, Mixture
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

OTHER_NAMES = 8  # whose scores of a phrase are averaged


def phrase_scores(model: GPT, prepared: Prepared, context: int, titles: Sequence[str]) -> np.ndarray:
    """(all phrases,) the log-likelihood of each phrase of each page as an answer to the question about a title.

    titles: one for each page; context: the longest sequence that the model can read: longer questions and phrases are
    cut at their ends.
    """
    phrases = prepared.capitalised
    form = prepared.question_forms[0]
    sequences, first_targets = [], []
    for row, title in enumerate(titles):
        question = prepared.vocabulary.encode(form.about(title))
        for start, end in phrases.spans[row].tolist():
            phrase = prepared.documents[row][start:end][: context // 2]
            asked = question[: context - len(phrase) - 1]
            sequences.append(answer_sequence(asked, phrase))
            first_targets.append(len(asked) + 1)
    log_likelihoods, _ = read_targets(model, sequences, first_targets)
    return log_likelihoods


def self_labels(models: Sequence[GPT], prepared: Prepared, context: int, contrast: float) -> Phrases:
    """Weigh the phrases of each page by their likelihood as an answer to the question about the page.

    With several models it is the mean of what they give. contrast: so much of a phrase's mean score for other pages'
    names is taken off its score.
    """
    phrases = prepared.capitalised
    titles = [prepared.title(row) for row in range(len(prepared.documents))]
    generator = np.random.default_rng(OTHER_NAMES)
    others = [np.roll(titles, shift).tolist() for shift in generator.choice(len(titles) - 1, OTHER_NAMES) + 1]
    of_models = []
    for model in models:
        scores = phrase_scores(model, prepared, context, titles)
        if contrast:
            scores -= contrast * np.mean([phrase_scores(model, prepared, context, other) for other in others], axis=0)
        pages = map(as_probabilities, np.split(scores, phrases.spans.offsets[1:-1]))
        of_models.append(np.concatenate([np.asarray(page) for page in pages]))
    return phrases.chosen([*map(np.ndarray.tolist, np.split(np.mean(of_models, axis=0), phrases.spans.offsets[1:-1]))])


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
    chosen = recipe.pretrain

    def trained_before(of_seed: int) -> Path:
        before = weights.with_stem(f"{weights.stem}-before-{of_seed}")
        train_to(before, experiment, prepared, first, of_seed, settings)
        return before

    labelling = [trained_before(of_seed) for of_seed in chosen.labelling_seeds or [seed]]
    before = trained_before(seed)
    rounds = chosen.self_training_rounds
    record: dict[str, Any] = {}
    for number in range(rounds):
        draw = _self_labelled(experiment, prepared, labelling)
        last = number + 1 == rounds
        self_training = replace(first, draw=draw, epochs=recipe.pretrain.self_training_epochs // rounds)
        to = weights if last else weights.with_stem(f"{weights.stem}-round-{number + 1}")
        record = train_to(to, experiment, prepared, self_training, seed, settings, before, continues=True)
        before, labelling = to, [to]
    return record


def _self_labelled(experiment: Experiment, prepared: Prepared, labelling: Sequence[Path]) -> Draw:
    """Return what draws phrases by the answers of models with these weights."""
    recipe = experiment.recipe

    @cache
    def mixture() -> Mixture:
        models = [experiment.trained_model(prepared, path) for path in labelling]
        labels = self_labels(models, prepared, recipe.model.context, recipe.pretrain.contrast)
        return Mixture(prepared, recipe.pretrain.objectives.all_salient, recipe.model.context, labels)

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        return mixture().draw(rows, generator)  # labelled at the first step, which a training that has ended lacks

    return draw


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
