"""Training: which rule moves which weight, the learning rate, a step, and the loop."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from stages.corpus.example import Examples
from stages.plain.model import PlainGPT, cross_entropy
from stages.settings.params import Finetune, OptimizerSettings, Pretrain


@dataclass(frozen=True)
class Phase:
    """What is learned, for how long and how fast: pretraining or finetuning."""

    title: str
    draw: Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → one example of each
    rows: int  # documents or questions
    epochs: int
    settings: Pretrain | Finetune  # its section of the recipe
    context: int  # characters

    def rate(self, tokens: int) -> float:
        """Compute the learning rate after so many tokens, PAD counted: a linear warm-up, then a cosine.

        The cosine ends with decay_epochs. After them it would rise again, and it never falls below min_lr_ratio.
        """
        total = self.epochs * self.rows * self.context
        schedule, peak_rate = self.settings.schedule, self.settings.learning_rate
        warmup = schedule.warmup_tokens or (schedule.warmup_share or 0) * total
        if tokens < warmup:
            return peak_rate * tokens / warmup

        end = (schedule.decay_epochs or self.epochs) * self.rows * self.context
        cosine = 0.5 * (1 + math.cos(math.pi * (tokens - warmup) / (end - warmup)))
        return peak_rate * max(schedule.min_lr_ratio, cosine)


class PlainTrainer:
    """AdamW on a clipped gradient; Muon for the matrices of linear layers but the head where the recipe says `muon`.

    All but biases decay or, with `decays: matrices`, the matrices of linear layers only. AdamW is Loshchilov & Hutter
    2017, arXiv 1711.05101; Muon is Jordan et al. 2024, kellerjordan.github.io/posts/muon, its updates scaled to AdamW's
    size (Liu et al. 2025, arXiv 2502.16982).
    """

    def __init__(self, model: PlainGPT, settings: OptimizerSettings) -> None:
        self.model = model.train()
        self.clip = settings.gradient_clip
        matrices = dict.fromkeys(module.weight for module in model.modules() if isinstance(module, nn.Linear))
        orthogonal = dict.fromkeys(matrices) if settings.matrices == "muon" else {}
        orthogonal.pop(model.head.weight, None)

        decaying: list[nn.Parameter] = []
        steady: list[nn.Parameter] = []
        for name, parameter in model.named_parameters():
            decays = parameter in matrices or (settings.decays == "all_but_biases" and not name.endswith("bias"))
            if parameter not in orthogonal:
                (decaying if decays else steady).append(parameter)

        decay = settings.weight_decay
        groups = [{"params": decaying, "weight_decay": decay}, {"params": steady, "weight_decay": 0.0}]
        self.optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, betas=(0.9, 0.95))]
        if orthogonal:
            muon = torch.optim.Muon([*orthogonal], weight_decay=decay, adjust_lr_fn="match_rms_adamw")
            self.optimizers.append(muon)

    def step(self, inputs: Tensor, targets: Tensor, rate: float) -> float:
        """Take one step on inputs, targets (B, T) int64 at a learning rate; returns the loss in nats a character."""
        self.model.zero_grad()
        loss = cross_entropy(self.model, inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        return float(loss.detach())


def train(model: PlainGPT, phase: Phase, settings: OptimizerSettings, generator: np.random.Generator) -> None:
    """Pass over all rows, in a new order each epoch; a bar shows the loss in nats a character."""
    trainer = PlainTrainer(model, settings)
    tokens = 0
    batch_size = phase.settings.batch_size
    with tqdm(total=phase.epochs * math.ceil(phase.rows / batch_size), desc=phase.title) as bar:
        for _ in range(phase.epochs):
            order = generator.permutation(phase.rows)
            for start in range(0, phase.rows, batch_size):
                rows = order[start : start + batch_size]
                examples = phase.draw(rows, generator)
                inputs, targets = torch.from_numpy(examples.inputs), torch.from_numpy(examples.targets)  # (B, T) each
                seen = len(rows) * (phase.context - 1)
                loss = trainer.step(inputs, targets, phase.rate(tokens or seen))  # the first step's would be 0
                tokens += seen
                bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
                bar.update()
