"""The training loop, which every phase of every variant goes through, and its checkpoints.

A checkpoint has all that the next step depends on. It is written beside the one before and then renamed, so that a kill
leaves one of the two whole.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from stages.corpus.example import Examples
from stages.experiment.draws import generator
from stages.settings import Schedule
from stages.system.errors import StudyError, tell
from stages.system.files import write_bytes
from stages.system.lifetime import stop_requests
from stages.system.progress import Bar, bar
from stages.training.batches import rows_of_step, steps_per_epoch
from stages.training.trainer import Trainer

LOOK_EVERY = 50  # steps: to look at a loss is to wait for the device


@dataclass
class Progress:
    """How far a training came."""

    steps: int  # done
    seconds: float  # over all resumptions
    losses: np.ndarray  # (all steps,) float32, nats a character; 0 where a step is still to be done
    characters: int = 0  # read so far, PAD not counted


def save_checkpoint(path: Path, trainer: Trainer, progress: Progress) -> None:
    """Write a checkpoint in the place of the one before. Raises OSError: it cannot be written; the one before stays."""
    numbers = {"losses": torch.from_numpy(progress.losses), "steps": torch.tensor(progress.steps)}
    numbers |= {"characters": torch.tensor(progress.characters)}
    seconds = {"seconds": torch.tensor(progress.seconds, dtype=torch.float64)}
    write_bytes(path, save(trainer.state() | numbers | seconds))


def load_checkpoint(path: Path, trainer: Trainer, steps: int) -> Progress:
    """Bring a trainer to where it was at its checkpoint, if there is a whole one; steps: of the training in all.

    A folder of work belongs to one training, and so does a checkpoint in it.
    """
    anew = Progress(0, 0.0, np.zeros(steps, dtype=np.float32))
    if not path.exists():
        return anew
    try:
        tensors = load(path.read_bytes())
    except SafetensorError as error:
        tell(f"{path} is damaged ({error}); the training starts anew")
        return anew
    losses, done, seconds, read = (tensors.pop(name) for name in ("losses", "steps", "seconds", "characters"))
    trainer.restore(tensors)
    return Progress(int(done), float(seconds), losses.numpy(), int(read))


@dataclass(frozen=True)
class Phase:
    """What is to be learned, and for how long."""

    name: str  # names the random draws and the curve: pretrain, finetune_scratch or finetune_pretrained
    key: str  # where its settings stand in params.yaml, for errors
    draw: Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → their examples
    rows: int  # how many there are
    epochs: int
    batch_size: int
    peak_rate: float
    schedule: Schedule
    context: int  # characters
    shuffled: bool = True  # whether each epoch draws an order of its own
    moved_positions: int = 0  # that the weights which it begins with move by (see `GPT.move_positions`)

    def __post_init__(self) -> None:
        if self.warmup_tokens >= self.decay_tokens:
            given = "warmup_share" if self.schedule.warmup_tokens is None else "warmup_tokens"
            raise StudyError(
                f"params.yaml: {self.key}.schedule.{given}: the warm-up has {self.warmup_tokens:.0f} tokens; allowed: "
                f"less than the {self.decay_tokens:.0f} until the lowest rate ({self.rows} x {self.context} an epoch)"
            )

    @property
    def steps(self) -> int:
        return self.epochs * steps_per_epoch(self.rows, self.batch_size)

    @property
    def warmup_tokens(self) -> float:
        """Tokens after which the learning rate is at its peak."""
        if self.schedule.warmup_share is not None:
            return self.schedule.warmup_share * self.epochs * self.rows * self.context
        return self.schedule.warmup_tokens or 0

    @property
    def decay_tokens(self) -> float:
        """Tokens after which the learning rate is at its minimum."""
        return (self.schedule.decay_epochs or self.epochs) * self.rows * self.context

    def rate(self, step: int) -> float:
        """Return the learning rate of a step (from 0): that after the tokens of all steps before it, PAD counted.

        A linear warm-up, then a cosine to 0 at `decay_tokens`, cut off at the smallest rate. After that it rises again,
        as in the schedule that CS224N's assignment 5 took from minGPT. The first step has the rate of its own tokens,
        but nothing of the decay: the peak, unless the warm-up is longer.
        """
        tokens = self._tokens(step) if step else min(self._tokens(1), self.warmup_tokens)
        if tokens < self.warmup_tokens:
            return self.peak_rate * tokens / self.warmup_tokens
        progress = (tokens - self.warmup_tokens) / (self.decay_tokens - self.warmup_tokens)
        return self.peak_rate * max(self.schedule.min_lr_ratio, 0.5 * (1 + math.cos(math.pi * progress)))

    def _tokens(self, steps: int) -> int:
        """How many the first steps see."""
        epochs, batches = divmod(steps, steps_per_epoch(self.rows, self.batch_size))
        return (epochs * self.rows + batches * self.batch_size) * (self.context - 1)


def train(trainer: Trainer, phase: Phase, seed: int, checkpoint: Path, interval: float, title: str) -> Progress:
    """Train from the checkpoint, where there is one, to the end; leave a checkpoint of the end.

    interval: seconds between checkpoints, at least; title: of the progress bar. The weights depend on the seed and the
    phase, not on stops: a step draws everything from its number.

    Returns the progress of the whole. Raises KeyboardInterrupt: after a signal to stop, or when the parent is gone; a
    checkpoint is written first. Raises StudyError: the loss is not finite; nothing is written. Raises OSError: a
    checkpoint cannot be written; the last one stays.
    """
    progress = load_checkpoint(checkpoint, trainer, phase.steps)
    with bar(title, phase.steps, progress.steps) as shown, stop_requests() as stop:
        course = _Course(trainer, phase, progress, checkpoint, title, shown)
        while progress.steps < phase.steps and not stop.requested():
            examples = examples_of_step(phase, seed, progress.steps)
            course.fresh.append(step(trainer, phase, seed, progress.steps, examples))
            progress.steps += 1
            progress.characters += int(examples.lengths.sum())
            shown.step()
            if time.monotonic() - course.saved >= interval:
                course.save()
            elif len(course.fresh) == LOOK_EVERY:
                course.look()

        course.save()
        if stop.requested():
            raise KeyboardInterrupt(
                f"stopped after step {progress.steps} of {phase.steps}{stop.reason}; "
                "the same command goes on from there"
            )
    return progress


@dataclass
class _Course:
    """The losses and checkpoints of a training on its way."""

    trainer: Trainer
    phase: Phase
    progress: Progress
    checkpoint: Path
    title: str
    bar: Bar
    fresh: list[torch.Tensor] = field(default_factory=list)  # losses of the last steps, still on the device

    def __post_init__(self) -> None:
        self.saved = time.monotonic()
        self.started = self.saved - self.progress.seconds

    def look(self) -> None:
        """Fetch the fresh losses from the device and show them. Raises StudyError: one is not finite."""
        done, losses = self.progress.steps, self.progress.losses
        self.progress.seconds = time.monotonic() - self.started
        if self.fresh:
            losses[done - len(self.fresh) : done] = torch.stack(self.fresh).cpu().numpy()
            self.fresh.clear()

        broken = np.flatnonzero(~np.isfinite(losses[:done]))
        if len(broken):
            where = f"the loss is {losses[broken[0]]} at step {broken[0] + 1} of {self.phase.steps}"
            raise StudyError(
                f"{self.title}: {where}; lower the learning_rate of {self.phase.key} or lengthen its warm-up"
            )
        if done:
            self.bar.note(loss=f"{losses[max(0, done - LOOK_EVERY) : done].mean():.3f}")

    def save(self) -> None:
        """Look, and write a checkpoint."""
        self.look()
        save_checkpoint(self.checkpoint, self.trainer, self.progress)
        self.saved = time.monotonic()


def examples_of_step(phase: Phase, seed: int, number: int) -> Examples:
    """Return what step `number` of the phase trains on."""
    rows = rows_of_step(phase.rows, phase.batch_size, seed, number, phase.shuffled)
    return phase.draw(rows, generator(seed, phase.name, number))


def step(trainer: Trainer, phase: Phase, seed: int, number: int, examples: Examples) -> torch.Tensor:
    """Take step `number` of the phase on its examples; its dropout follows from seed and number alone."""
    trainer.backend.seed(int(generator(seed, f"{phase.name} dropout", number).integers(2**63)))
    return trainer.step(trainer.cut(examples), phase.rate(number))
