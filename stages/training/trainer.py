"""A model with its optimizers: what a step does to it."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples
from stages.experiment.experiment import Backend, step_generator
from stages.model.gpt import GPT
from stages.model.packing import PackedBatch, split_by_length
from stages.settings.params import OptimizerSettings
from stages.training.optimizer import build_optimizers
from stages.training.phases import Phase


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

    def step(self, examples: Examples, rate: float) -> Tensor:
        """One step at the given learning rate; returns the batch's mean loss.

        The loss stays on the device, so that nothing waits for it.
        """
        loss = self.clipped_gradients(self.split(examples))
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
        targets = targets[loss_indices]  # (L,)
    logits = model.head(model.hidden(inputs, packed.packing, loss_indices=loss_indices))  # (L, V)
    return F.cross_entropy(logits.float(), targets, ignore_index=PAD)


def take_step(trainer: Trainer, phase: Phase, seed: int, number: int, examples: Examples) -> Tensor:
    """Take step `number` of the phase on its examples; its dropout follows from seed and number alone."""
    trainer.backend.seed(int(step_generator(seed, f"{phase.name} dropout", number).integers(2**63)))
    return trainer.step(examples, phase.rate(number))
