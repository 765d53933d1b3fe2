"""A model with its optimizer: one step of training."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples
from stages.experiment.backend import Backend
from stages.model.gpt import GPT
from stages.settings import Optimizer
from stages.training.batches import PackedBatch, split_by_length
from stages.training.optimizer import build_optimizers, moments


class Trainer:
    """Trains a model on float32 masters of its weights.

    In bfloat16 the model multiplies copies of the masters, cast once a step, and their gradients are cast back. In
    float32 model and masters are one.
    """

    def __init__(self, model: GPT, settings: Optimizer, backend: Backend) -> None:
        self.backend = backend
        self.model = model.to(backend.device)
        self.names = [name for name, _ in model.named_parameters()]
        shares_weights = backend.dtype == torch.float32
        self.masters = [
            parameter if shares_weights else nn.Parameter(parameter.detach().clone())
            for parameter in self.model.parameters()
        ]
        self.model.to(backend.dtype)
        self.copies = [] if shares_weights else list(self.model.parameters())
        self.clip = settings.gradient_clip
        self.optimizers = build_optimizers(self.model, self.masters, settings, backend.dtype)

    def cut(self, examples: Examples) -> list[Examples]:
        """The batch in parts of like lengths: the rectangles of mixers that need them."""
        return split_by_length(examples)

    def step(self, parts: Sequence[Examples], rate: float) -> Tensor:
        """One step at the given learning rate on a batch cut into parts; returns the batch's mean loss.

        The loss stays on the device, so that nothing waits for it.
        """
        loss = self.clipped_gradients(parts)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
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
        """The masters by the model's names, float32 on the CPU."""
        return {name: master.detach().cpu().contiguous() for name, master in zip(self.names, self.masters, strict=True)}

    def state(self) -> dict[str, Tensor]:
        """Masters and moments: all that the next step depends on beside the batch."""
        tensors = {f"weight.{name}": tensor for name, tensor in self.weights().items()}
        names = {id(master): name for name, master in zip(self.names, self.masters, strict=True)}
        for optimizer in self.optimizers:
            for master, kept in optimizer.state.items():
                name = names[id(master)]
                tensors |= {f"{key}.{name}": value.detach().cpu().contiguous() for key, value in kept.items()}
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take over what `state` gave after a step.

        Raises ValueError: it is not of such a trainer; nothing was taken over.
        """
        masters = dict(zip(self.names, self.masters, strict=True))
        owners = {id(p): o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        shapes = {f"weight.{name}": master.shape for name, master in masters.items()}
        for name, master in masters.items():
            shapes |= {f"{key}.{name}": shape for key, shape in moments(owners[id(master)], master).items()}
        if {label: tensor.shape for label, tensor in tensors.items() if tensor.dtype == torch.float32} != shapes:
            raise ValueError("other weights or moments")
        for label, tensor in tensors.items():
            key, _, name = label.partition(".")
            master = masters[name]
            if key == "weight":
                with torch.no_grad():
                    master.copy_(tensor)
            else:
                owners[id(master)].state[master][key] = tensor.to(master.device)
        self._copy_masters()

    @torch.no_grad()
    def _copy_masters(self) -> None:
        if self.copies:
            torch._foreach_copy_(tuple(self.copies), tuple(self.masters))


def batch_loss(model: GPT, parts: Sequence[Examples]) -> Tensor:
    """Mean cross-entropy over all targets of a batch's parts, in nats; only what they need of the model is computed."""
    packed, device = PackedBatch.of(parts), model.head.weight.device
    inputs, targets = (torch.from_numpy(each).to(device) for each in (packed.inputs, packed.targets))  # (N,) each
    loss_indices = None if packed.loss_indices is None else torch.from_numpy(packed.loss_indices).to(device)
    logits = model.head(model.hidden(inputs, packed.packing, loss_indices=loss_indices))  # (loss_indices, vocabulary)
    return F.cross_entropy(logits.float(), targets if loss_indices is None else targets[loss_indices], ignore_index=PAD)
