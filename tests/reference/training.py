"""A training step on one padded batch, and the rate of every step."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from stages.settings import Optimizer
from tests.reference.model import PlainGPT, cross_entropy

BLOCK = 128  # characters of a context; an example has one input less
WARMUP_TOKENS = 512 * 20
DECAY_EPOCHS = 200  # of the documents, in finetuning too
FLOOR = 0.1


def rates(rows: int, batch_size: int, epochs: int, peak: float, documents: int) -> Iterator[float]:
    """The learning rate of every step on `rows` rows, as CS224N's assignment 5 sets it after minGPT.

    The first step has the peak; then the rate is set after each step for the next. Tokens are counted batch by batch,
    PAD among them: linear warm-up, then a cosine that reaches its minimum after 200 epochs of all documents, is not
    held there, and never gives less than a tenth of the peak.
    """
    final_tokens = DECAY_EPOCHS * documents * BLOCK
    tokens, multiplier = 0, 1.0
    for _ in range(epochs):
        for start in range(0, rows, batch_size):
            yield peak * multiplier
            tokens += min(batch_size, rows - start) * (BLOCK - 1)
            if tokens < WARMUP_TOKENS:
                multiplier = tokens / WARMUP_TOKENS
            else:
                progress = (tokens - WARMUP_TOKENS) / (final_tokens - WARMUP_TOKENS)
                multiplier = max(FLOOR, 0.5 * (1.0 + math.cos(math.pi * progress)))


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
