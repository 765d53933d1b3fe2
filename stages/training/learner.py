"""A model with its optimizer: one step of training."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples
from stages.model.gpt import GPT
from stages.settings import Optimizer
from stages.training.compute import Backend


class Learner:
    """Trains a model by AdamW on float32 masters of its weights.

    In bfloat16 the model multiplies copies of the masters, cast once a step; the gradients of a batch's
    parts add up in float32. In float32 model and masters are one.
    """

    def __init__(self, model: GPT, settings: Optimizer, backend: Backend) -> None:
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
        self.optimizer = torch.optim.AdamW(
            _decay_groups(self.model, self.masters, settings.weight_decay),
            betas=(settings.betas[0], settings.betas[1]),
            fused=True,
        )
        for master in self.masters:
            master.grad = torch.zeros_like(master)

    def step(self, parts: Sequence[Examples], rate: float) -> Tensor:
        """One step at the given learning rate on a batch cut into parts; returns the batch's mean loss."""
        loss = self.gradients(parts)
        nn.utils.clip_grad_norm_(self.masters, self.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self._copy_masters()
        return loss

    def gradients(self, parts: Sequence[Examples]) -> Tensor:
        """Set the masters' gradients to those of the batch's loss, and return it.

        The loss is the mean over all targets of the batch, in nats a character, however it is cut.
        """
        self.model.train()
        for master in self.masters:
            assert master.grad is not None
            master.grad.zero_()
        targets = sum(int((part.targets != PAD).sum()) for part in parts)
        total = torch.zeros((), device=self.masters[0].device)
        for part in parts:
            loss = summed_loss(self.model, part) / targets
            loss.backward()
            total += loss.detach()
            for master, copy in zip(self.masters, self.copies, strict=False):
                assert master.grad is not None and copy.grad is not None
                master.grad.add_(copy.grad)
                copy.grad = None
        return total

    def weights(self) -> dict[str, Tensor]:
        """The masters by the model's names, float32 on the CPU."""
        return {name: master.detach().cpu() for name, master in zip(self.names, self.masters, strict=True)}

    def state(self) -> dict[str, Tensor]:
        """Masters and moments: all that the next step depends on beside the batch."""
        tensors = {f"weight.{name}": tensor for name, tensor in self.weights().items()}
        for name, master in zip(self.names, self.masters, strict=True):
            for key, value in self.optimizer.state[master].items():
                tensors[f"{key}.{name}"] = value.detach().cpu()
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take over what `state` gave."""
        for name, master in zip(self.names, self.masters, strict=True):
            with torch.no_grad():
                master.copy_(tensors[f"weight.{name}"])
            moments = {key: tensors[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            self.optimizer.state[master] = {key: value.to(master.device) for key, value in moments.items()}
        self._copy_masters()

    def _copy_masters(self) -> None:
        with torch.no_grad():
            for copy, master in zip(self.copies, self.masters, strict=False):
                copy.copy_(master)


def summed_loss(model: GPT, examples: Examples) -> Tensor:
    """Cross-entropy summed over the targets, in nats; logits are made where there is a target only."""
    device = model.head.weight.device
    inputs = torch.from_numpy(examples.inputs).to(device)
    targets = torch.from_numpy(examples.targets).to(device)
    wanted = targets != PAD
    logits = model.head(model.hidden(inputs)[wanted])  # (targets, vocabulary)
    return F.cross_entropy(logits.float(), targets[wanted], reduction="sum")


def _decay_groups(model: nn.Module, masters: Sequence[nn.Parameter], weight_decay: float) -> list[dict[str, object]]:
    """Weights of linear layers decay; biases, norms, embeddings and what else there is do not."""
    matrices = {id(module.weight) for module in model.modules() if isinstance(module, nn.Linear)}
    groups: dict[bool, list[nn.Parameter]] = {True: [], False: []}
    for parameter, master in zip(model.parameters(), masters, strict=True):
        groups[id(parameter) in matrices].append(master)
    return [{"params": groups[True], "weight_decay": weight_decay}, {"params": groups[False], "weight_decay": 0.0}]
