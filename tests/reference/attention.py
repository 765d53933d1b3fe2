"""How each variant mixes information over time, in its full form.

Shape letters: B batch, T time (characters), C width, nh heads, hs head size.
"""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.settings import Model


class Vanilla(nn.Module):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    learned_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.heads = model.heads
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)
        self.dropout = model.dropout

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        B, T, C = x.shape
        query, key, value = self.query_key_value(x).split(C, dim=2)  # (B, T, C) each
        query = self.place(query.view(B, T, self.heads, -1).transpose(1, 2))  # (B, nh, T, hs)
        key = self.place(key.view(B, T, self.heads, -1).transpose(1, 2))  # (B, nh, T, hs)
        value = value.view(B, T, self.heads, -1).transpose(1, 2)  # (B, nh, T, hs)

        scores = query @ key.transpose(2, 3) / math.sqrt(C // self.heads)  # (B, nh, T, T)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = F.softmax(scores.masked_fill(future, -math.inf), dim=-1)  # (B, nh, T, T)
        weights = F.dropout(weights, self.dropout, self.training)

        mixed = weights @ value  # (B, nh, T, hs)
        return self.projection(mixed.transpose(1, 2).reshape(B, T, C))

    def place(self, x: Tensor) -> Tensor:
        """Put positions into queries or keys x (B, nh, T, hs); here they came with the embedding."""
        return x


class Rope(Vanilla):
    """Queries and keys are rotated by their position (Su et al. 2021, arXiv 2104.09864).

    Channels i and i + hs/2 of a head are one complex number; position t multiplies it by exp(i t θᵢ) with
    θᵢ = theta^(-2i/hs).
    """

    learned_positions: ClassVar[bool] = False

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.theta = settings["theta"]

    def place(self, x: Tensor) -> Tensor:
        T, head_size = x.shape[2:]
        theta = self.theta ** (-torch.arange(0, head_size, 2, device=x.device) / head_size)  # (hs/2,)
        angle = torch.outer(torch.arange(T, device=x.device), theta)  # (T, hs/2)
        real, imaginary = x.chunk(2, dim=3)  # (B, nh, T, hs/2) each
        turned = torch.complex(real, imaginary) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([turned.real, turned.imag], dim=3)


ATTENTION: dict[str, type[Vanilla]] = {"vanilla": Vanilla, "rope": Rope}
