"""How each variant mixes information over time, in its full form.

Shape letters: B batch, T time (characters), C width, nh heads, hs head size.
"""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.plain.recurrent import RNN, WRNN, GatedDeltaNet, Linear, MinGRU
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
        self.layer = 0  # set by the block

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        B, T, C = x.shape
        query, key, value = self.query_key_value(x).split(C, dim=2)  # (B, T, C) each
        query = self.place(query.view(B, T, self.heads, -1).transpose(1, 2))  # (B, nh, T, hs)
        key = self.place(key.view(B, T, self.heads, -1).transpose(1, 2))  # (B, nh, T, hs)
        value = value.view(B, T, self.heads, -1).transpose(1, 2)  # (B, nh, T, hs)

        scores = query @ key.transpose(2, 3) / math.sqrt(C // self.heads)  # (B, nh, T, T)
        weights = F.softmax(scores.masked_fill(self.unseen(T, x.device), -math.inf), dim=-1)  # (B, nh, T, T)
        weights = F.dropout(weights, self.dropout, self.training)

        mixed = weights @ value  # (B, nh, T, hs)
        return self.projection(mixed.transpose(1, 2).reshape(B, T, C))

    def unseen(self, T: int, device: torch.device) -> Tensor:
        """Which keys (columns) a query (row) may not see, (T, T) bool: those after it."""
        return torch.ones(T, T, dtype=torch.bool, device=device).triu(1)

    def place(self, x: Tensor) -> Tensor:
        """Put positions into queries or keys x (B, nh, T, hs); here they came with the embedding."""
        return x


class NoPositions(Vanilla):
    """The same without positions."""

    learned_positions: ClassVar[bool] = False


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
        real, imaginary = x.float().chunk(2, dim=3)  # (B, nh, T, hs/2) each; autocast has no complex bfloat16
        turned = torch.complex(real, imaginary) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([turned.real, turned.imag], dim=3)


class Window(Rope):
    """A query sees its own and the w-1 positions before (Beltagy et al. 2020, arXiv 2004.05150)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.width = settings["width"]

    def unseen(self, T: int, device: torch.device) -> Tensor:
        return super().unseen(T, device) | torch.ones(T, T, dtype=torch.bool, device=device).tril(-self.width)


class PerceiverAR(Vanilla):
    """After the first block a query sees the last m positions only (Hawthorne et al. 2022, arXiv 2202.07765)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.latents = settings["latents"]

    def unseen(self, T: int, device: torch.device) -> Tensor:
        if self.layer == 0:
            return super().unseen(T, device)
        return super().unseen(T, device) | torch.ones(T, T, dtype=torch.bool, device=device).tril(-self.latents)


class MultiQuery(nn.Module):
    """Heads have queries of their own and share one set of keys and values (Shazeer 2019, arXiv 1911.02150)."""

    learned_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.heads = model.heads
        self.query = nn.Linear(model.width, model.width)
        self.key_value = nn.Linear(model.width, 2 * (model.width // model.heads))
        self.projection = nn.Linear(model.width, model.width)
        self.dropout = model.dropout

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        T = x.shape[1]
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        key, value = self.key_value(x).chunk(2, dim=2)  # (B, T, hs) each
        mixed = []
        for query in self.query(x).chunk(self.heads, dim=2):  # (B, T, hs) of each head
            scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])  # (B, T, T)
            weights = F.softmax(scores.masked_fill(future, -math.inf), dim=-1)
            mixed.append(F.dropout(weights, self.dropout, self.training) @ value)
        return self.projection(torch.cat(mixed, dim=2))


class RandomSynthesizer(nn.Module):
    """Learned scores in place of QKᵀ, the same for every text (Tay et al. 2020, arXiv 2005.00743)."""

    learned_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.heads = model.heads
        self.add_scores(model)
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)
        self.dropout = model.dropout

    def add_scores(self, model: Model) -> None:
        """Make the parameters of the scores."""
        self.scores = nn.Parameter(torch.empty(model.heads, model.context, model.context))

    def scores_of(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, nh, T, T)."""
        B, T, _ = x.shape
        return self.scores[:, :T, :T].repeat(B, 1, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        B, T, C = x.shape
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        value = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)  # (B, nh, T, hs)
        weights = F.softmax(self.scores_of(x).masked_fill(future, -math.inf), dim=-1)  # (B, nh, T, T)
        mixed = F.dropout(weights, self.dropout, self.training) @ value  # (B, nh, T, hs)
        return self.projection(mixed.transpose(1, 2).reshape(B, T, C))


class Synthesizer(RandomSynthesizer):
    """A score for every key from the query's position alone, the course's version of the dense synthesizer."""

    def add_scores(self, model: Model) -> None:
        self.hidden = nn.Linear(model.width, model.width)
        self.table = nn.Parameter(torch.empty(model.context - 1, model.width // model.heads))
        self.offsets = nn.Parameter(torch.empty(model.context - 1))

    def scores_of(self, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        hidden = F.relu(self.hidden(x)).view(B, T, self.heads, -1).transpose(1, 2)  # (B, nh, T, hs)
        scores = hidden @ self.table.T + self.offsets  # (B, nh, T, context - 1)
        none = torch.full_like(scores[..., :1], -math.inf)  # the last position of the context has no score
        return torch.cat([scores, none], dim=3)[..., :T]


ATTENTION: dict[str, Any] = {
    "vanilla": Vanilla,
    "rope": Rope,
    "nope": NoPositions,
    "window": Window,
    "mqa": MultiQuery,
    "synthesizer": Synthesizer,
    "random_synthesizer": RandomSynthesizer,
    "perceiver": Vanilla,  # of the blocks between the first and the last, see model.py
    "perceiver_ar": PerceiverAR,
    "linear": Linear,
    "gated_deltanet": GatedDeltaNet,
    "min_gru": MinGRU,
    "rnn": RNN,
    "wrnn": WRNN,
}
