"""The phases of a recipe: its objectives on the corpus, self-training, and the training questions.

The rows, the examples and the learning rate of a step follow from its number.

In self-training the model is asked the commonest training question about every page, and how likely it finds each
phrase of the page. So it finds out what is asked, and trains on that: its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import ceil, cos, pi
from pathlib import Path

import numpy as np

from stages.corpus.example import Examples, answer_sequence
from stages.corpus.objectives import Mixture
from stages.corpus.phrases import Phrases, as_probabilities
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.ragged import Ragged
from stages.experiment.experiment import Experiment, step_generator
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.settings.params import Finetune, Pretrain
from stages.system.errors import UserError


@dataclass(frozen=True)
class Phase:
    """What is to be learned, and for how long."""

    name: str  # names the random draws and the curve: pretrain, finetune_scratch or finetune_pretrained
    key: str  # where its settings stand in params.yaml, for errors
    draw: Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → their examples
    row_count: int  # how many there are
    epochs: int
    settings: Pretrain | Finetune  # its section of the recipe
    context: int  # characters
    continues: bool = False  # whether curve, examples and seconds up to its first weights count as its own

    def __post_init__(self) -> None:
        if self.warmup_tokens >= self.decay_tokens:
            given = "warmup_share" if self.settings.schedule.warmup_tokens is None else "warmup_tokens"
            raise UserError(
                f"params.yaml: {self.key}.schedule.{given}: the warm-up has {self.warmup_tokens:.0f} tokens; allowed: "
                f"less than {self.decay_tokens:.0f}, until the lowest rate ({self.row_count} x {self.context} an epoch)"
            )

    @property
    def steps_per_epoch(self) -> int:
        """Batches that hold every row once."""
        return ceil(self.row_count / self.settings.batch_size)

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def warmup_tokens(self) -> float:
        """Tokens after which the learning rate is at its peak."""
        if self.settings.schedule.warmup_share is not None:
            return self.settings.schedule.warmup_share * self.epochs * self.row_count * self.context
        return self.settings.schedule.warmup_tokens or 0

    @property
    def decay_tokens(self) -> float:
        """Tokens after which the learning rate is at its minimum."""
        return (self.settings.schedule.decay_epochs or self.epochs) * self.row_count * self.context

    def rate(self, step: int) -> float:
        """Return the learning rate of a step (from 0): that after the tokens of all steps before it, PAD counted.

        A linear warm-up, then a cosine to 0 at `decay_tokens`, cut off at the smallest rate. After that it rises again,
        as in the schedule that CS224N's assignment 5 took from minGPT. The first step has the rate of its own tokens,
        but nothing of the decay: the peak, unless the warm-up is longer.
        """
        tokens = self._tokens(step) if step else min(self._tokens(1), self.warmup_tokens)
        if tokens < self.warmup_tokens:
            return self.settings.learning_rate * tokens / self.warmup_tokens
        progress = (tokens - self.warmup_tokens) / (self.decay_tokens - self.warmup_tokens)
        return self.settings.learning_rate * max(self.settings.schedule.min_lr_ratio, 0.5 * (1 + cos(pi * progress)))

    def _tokens(self, steps: int) -> int:
        """Count the tokens of the first steps."""
        epochs, batches = divmod(steps, self.steps_per_epoch)
        return (epochs * self.row_count + batches * self.settings.batch_size) * (self.context - 1)

    def rows_of_step(self, seed: int, step: int) -> np.ndarray:
        """Return the rows of a step, (≤ batch_size,); each epoch is a new shuffle, its last batch may be short."""
        epoch, batch = divmod(step, self.steps_per_epoch)
        order = _shuffled(self.row_count, seed, epoch) if self.settings.shuffled else np.arange(self.row_count)
        return order[batch * self.settings.batch_size : (batch + 1) * self.settings.batch_size]

    def examples(self, seed: int, step: int) -> Examples:
        """Return what a step (from 0) trains on."""
        return self.draw(self.rows_of_step(seed, step), step_generator(seed, self.name, step))


@lru_cache(maxsize=1)  # once an epoch, so that a step costs the same whatever the corpus
def _shuffled(rows: int, seed: int, epoch: int) -> np.ndarray:
    """Return the rows of an epoch, shuffled."""
    order = step_generator(seed, "order", epoch).permutation(rows)
    order.flags.writeable = False  # every step of the epoch reads it
    return order


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
    return phrases.with_probabilities(map(as_probabilities, np.split(log_likelihoods, phrases.spans.offsets[1:-1])))


def epochs(settings: Pretrain, documents: int) -> int:
    """Return the passes over so many documents: the recipe's, or as many as its `least_steps` take."""
    return max(settings.epochs, ceil((settings.least_steps or 0) / ceil(documents / settings.batch_size)))


def pretraining(experiment: Experiment, prepared: Prepared) -> Phase:
    """Return the pretraining of a recipe; self-training may follow it."""
    settings, context = experiment.recipe.pretrain, experiment.recipe.model.context
    draw = Mixture(prepared, settings.objectives, context).draw
    documents = len(prepared.documents)
    key = f"recipes.{experiment.recipe_name}.pretrain"
    return Phase("pretrain", key, draw, documents, epochs(settings, documents), settings, context)


def self_training(first: Phase, passes: int, experiment: Experiment, prepared: Prepared, pretrained: Path) -> Phase:
    """Return so many passes of self-training, whose phrases are drawn by the answers of the `pretrained` weights.

    first: the recipe's pretraining, which made these weights.
    """
    recipe = experiment.recipe

    @cache
    def mixture() -> Mixture:
        labels = self_labels(experiment.trained_model(prepared, pretrained), prepared, recipe.model.context)
        return Mixture(prepared, recipe.pretrain.objectives.all_salient, recipe.model.context, labels)

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        return mixture().draw(rows, generator)  # labelled at the first step, which a training that has ended lacks

    return replace(first, draw=draw, epochs=passes, continues=True)


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
