"""One step of training: its rows, its examples and its learning rate follow from its number."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from stages.corpus.example import Examples
from stages.experiment.backend import generator
from stages.settings import Finetune, Pretrain
from stages.system.errors import UserError
from stages.training.trainer import Trainer


@dataclass(frozen=True)
class Phase:
    """What is to be learned, and for how long."""

    name: str  # names the random draws and the curve: pretrain, finetune_scratch or finetune_pretrained
    key: str  # where its settings stand in params.yaml, for errors
    draw: Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → their examples
    rows: int  # how many there are
    epochs: int
    settings: Pretrain | Finetune  # its section of the recipe
    context: int  # characters

    def __post_init__(self) -> None:
        if self.warmup_tokens >= self.decay_tokens:
            given = "warmup_share" if self.settings.schedule.warmup_tokens is None else "warmup_tokens"
            raise UserError(
                f"params.yaml: {self.key}.schedule.{given}: the warm-up has {self.warmup_tokens:.0f} tokens; allowed: "
                f"less than the {self.decay_tokens:.0f} until the lowest rate ({self.rows} x {self.context} an epoch)"
            )

    @property
    def steps_per_epoch(self) -> int:
        return steps_per_epoch(self.rows, self.settings.batch_size)

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def warmup_tokens(self) -> float:
        """Tokens after which the learning rate is at its peak."""
        if self.settings.schedule.warmup_share is not None:
            return self.settings.schedule.warmup_share * self.epochs * self.rows * self.context
        return self.settings.schedule.warmup_tokens or 0

    @property
    def decay_tokens(self) -> float:
        """Tokens after which the learning rate is at its minimum."""
        return (self.settings.schedule.decay_epochs or self.epochs) * self.rows * self.context

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
        return self.settings.learning_rate * max(
            self.settings.schedule.min_lr_ratio, 0.5 * (1 + math.cos(math.pi * progress))
        )

    def _tokens(self, steps: int) -> int:
        """Count the tokens of the first steps."""
        epochs, batches = divmod(steps, self.steps_per_epoch)
        return (epochs * self.rows + batches * self.settings.batch_size) * (self.context - 1)


def rows_of_step(rows: int, batch_size: int, seed: int, step: int, shuffled: bool = True) -> np.ndarray:
    """Return the rows of a step, (≤ batch_size,); each epoch is a new shuffle, its last batch may be short.

    shuffled: False: each epoch has the rows in the order of their file.
    """
    epoch, batch = divmod(step, steps_per_epoch(rows, batch_size))
    order = _order(rows, seed, epoch) if shuffled else np.arange(rows)
    return order[batch * batch_size : (batch + 1) * batch_size]


@lru_cache(maxsize=1)  # once an epoch, so that a step costs the same whatever the corpus
def _order(rows: int, seed: int, epoch: int) -> np.ndarray:
    """Return the rows of an epoch, shuffled."""
    order = generator(seed, "order", epoch).permutation(rows)
    order.flags.writeable = False  # every step of the epoch reads it
    return order


def steps_per_epoch(rows: int, batch_size: int) -> int:
    """Batches that hold every row once."""
    return -(-rows // batch_size)


def examples_of_step(phase: Phase, seed: int, number: int) -> Examples:
    """Return what step `number` of the phase trains on."""
    rows = rows_of_step(phase.rows, phase.settings.batch_size, seed, number, phase.settings.shuffled)
    return phase.draw(rows, generator(seed, phase.name, number))


def take_step(trainer: Trainer, phase: Phase, seed: int, number: int, examples: Examples) -> torch.Tensor:
    """Take step `number` of the phase on its examples; its dropout follows from seed and number alone."""
    trainer.backend.seed(int(generator(seed, f"{phase.name} dropout", number).integers(2**63)))
    return trainer.step(examples, phase.rate(number))
