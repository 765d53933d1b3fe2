"""One step of training: what it trains on, at which rate, and what it does to a model."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples
from stages.experiment.backend import Backend, generator
from stages.model.gpt import GPT
from stages.model.packing import PackedBatch, split_by_length
from stages.settings import Finetune, OptimizerSettings, Pretrain
from stages.system.errors import UserError
from stages.training.optimizer import build_optimizers


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


class Trainer:
    """Trains a model on float32 masters of its weights.

    In bfloat16 the model multiplies copies of the masters, cast once a step, and their gradients are cast back. In
    float32 model and masters are one.
    """

    def __init__(self, model: GPT, settings: OptimizerSettings, backend: Backend) -> None:
        self.backend = backend
        self.model = model.to(backend.device)
        self.named_masters = dict(self.model.named_parameters())
        self.copies: list[nn.Parameter] = []
        if backend.dtype != torch.float32:
            self.named_masters = {name: nn.Parameter(w.detach().clone()) for name, w in self.named_masters.items()}
            self.copies = list(self.model.to(backend.dtype).parameters())
        self.masters = list(self.named_masters.values())
        self.clip = settings.gradient_clip
        self.optimizers = build_optimizers(self.model, self.named_masters, settings, backend.dtype)

    def split(self, examples: Examples) -> list[Examples]:
        """Return the batch in parts of like lengths: the rectangles of mixers that need them."""
        return split_by_length(examples)

    def step(self, parts: Sequence[Examples], rate: float) -> Tensor:
        """One step at the given learning rate on a batch cut into parts; returns the batch's mean loss.

        The loss stays on the device, so that nothing waits for it.
        """
        loss = self.clipped_gradients(parts)
        for optimizer in self.optimizers:
            optimizer.step(rate)
        self._copy_masters()
        return loss

    def clipped_gradients(self, parts: Sequence[Examples]) -> Tensor:
        """Set the masters' gradients to those of the batch's loss, clipped to the norm allowed; returns the loss.

        The loss is the mean over all targets of the batch, in nats a character, however it is cut.
        """
        self.model.train()
        loss = batch_loss(self.model, parts)
        gradients = torch.autograd.grad(loss, list(self.model.parameters()))
        for master, gradient in zip(self.masters, gradients, strict=True):
            master.grad = gradient.float()
        nn.utils.clip_grad_norm_(self.masters, self.clip)
        return loss.detach()

    def weights(self) -> dict[str, Tensor]:
        """Return the masters by the model's names, float32 on the CPU."""
        return {name: master.detach().cpu().contiguous() for name, master in self.named_masters.items()}

    def state(self) -> dict[str, Tensor]:
        """Masters and moments, on the CPU: all that the next step depends on beside the batch."""
        return {name: tensor.detach().cpu().contiguous() for name, tensor in self._state().items()}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over the masters and moments that `state` returned."""
        for name, tensor in self._state().items():
            tensor.copy_(tensors[name])
        self._copy_masters()

    def _state(self) -> dict[str, Tensor]:
        tensors: dict[str, Tensor] = {f"weight.{name}": master for name, master in self.named_masters.items()}
        for optimizer in self.optimizers:
            tensors |= optimizer.state
        return tensors

    @torch.no_grad()
    def _copy_masters(self) -> None:
        if self.copies:
            torch._foreach_copy_(tuple(self.copies), tuple(self.masters))


def batch_loss(model: GPT, parts: Sequence[Examples]) -> Tensor:
    """Mean cross-entropy over all targets of a batch's parts, in nats; only what they need of the model is computed."""
    packed = PackedBatch.of(parts)
    device = model.head.weight.device
    inputs = torch.from_numpy(packed.inputs).to(device)  # (N,)
    targets = torch.from_numpy(packed.targets).to(device)  # (N,)
    loss_indices = None
    if packed.loss_indices is not None:
        loss_indices = torch.from_numpy(packed.loss_indices).to(device)
        targets = targets[loss_indices]  # (loss_indices,)
    logits = model.head(model.hidden(inputs, packed.packing, loss_indices=loss_indices))  # (loss_indices, vocabulary)
    return F.cross_entropy(logits.float(), targets, ignore_index=PAD)


def trainer_for(model: GPT, settings: OptimizerSettings, backend: Backend) -> Trainer:
    """Return the trainer that is fast on the backend's device."""
    if backend.device.type == "cpu":
        return Trainer(model, settings, backend)
    from stages.training.gpu import GraphTrainer  # it builds on this module

    return GraphTrainer(model, settings, backend)


def examples_of_step(phase: Phase, seed: int, number: int) -> Examples:
    """Return what step `number` of the phase trains on."""
    rows = rows_of_step(phase.rows, phase.settings.batch_size, seed, number, phase.settings.shuffled)
    return phase.draw(rows, generator(seed, phase.name, number))


def take_step(trainer: Trainer, phase: Phase, seed: int, number: int, examples: Examples) -> torch.Tensor:
    """Take step `number` of the phase on its examples; its dropout follows from seed and number alone."""
    trainer.backend.seed(int(generator(seed, f"{phase.name} dropout", number).integers(2**63)))
    return trainer.step(trainer.split(examples), phase.rate(number))
