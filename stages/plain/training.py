"""A training step on one padded batch."""

import torch
from torch import Tensor, nn

from stages.plain.model import PlainGPT, cross_entropy
from stages.settings import Optimizer


class PlainTrainer:
    """AdamW on a clipped gradient; all but biases decays or, with `decays: matrices`, linear layers only."""

    def __init__(self, model: PlainGPT, settings: Optimizer) -> None:
        self.model = model.train()
        self.clip = settings.gradient_clip
        if settings.decays == "matrices":
            decaying = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
        else:
            decaying = [parameter for name, parameter in model.named_parameters() if not name.endswith("bias")]
        others = [parameter for parameter in model.parameters() if all(parameter is not each for each in decaying)]
        groups = [
            {"params": decaying, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(settings.betas[0], settings.betas[1]))

    def step(self, inputs: Tensor, targets: Tensor, rate: float) -> float:
        """One step on inputs, targets (B, T) int64 at a learning rate; returns the loss in nats a character."""
        self.optimizer.zero_grad()
        loss = cross_entropy(self.model, inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return float(loss.detach())
