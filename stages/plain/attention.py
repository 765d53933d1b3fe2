"""How the softmax variants mix information over time, each as its paper writes it.

Shape letters: B batch, T time (characters), S positions of the keys (T, unless one sequence reads another), C width,
nh heads, hs head size.
"""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.plain.recurrent import RNN, WRNN, GatedDeltaNet, Linear, MinGRU
from stages.settings.params import ModelSettings


class Attention(nn.Module):
    """What these variants share: heads, a mask, a softmax, dropout of its weights, and a projection."""

    needs_positions: ClassVar[bool] = True  # whether the model adds a learned vector for each position
    projection: nn.Linear  # of the heads' outputs (C → C)

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__()
        self.head_size = model.width // model.heads
        self.dropout = nn.Dropout(model.dropout)
        self.layer = 0  # its block, from 0; set by the block

    def split(self, x: Tensor) -> Tensor:
        """Cut channels into heads: x (B, T, n·hs) → (B, n, T, hs)."""
        return x.unflatten(2, (-1, self.head_size)).transpose(1, 2)

    def average(self, scores: Tensor, V: Tensor) -> Tensor:
        """Average the values by the softmax of scores (B, nh, T, S). V: (B, nh, S, hs) → (B, T, C)."""
        unseen = self.unseen(scores.shape[2], scores.shape[3], scores.device)
        weights = F.softmax(scores.masked_fill(unseen, -math.inf), dim=-1)  # (B, nh, T, S)

        mixed = self.dropout(weights) @ V  # (B, nh, T, hs)
        return self.projection(mixed.transpose(1, 2).flatten(2))  # (B, T, C)

    def unseen(self, T: int, S: int, device: torch.device) -> Tensor:
        """Mark the keys (columns) that a query (row) may not see, (T, S) bool: those after it."""
        return torch.ones(T, S, dtype=torch.bool, device=device).triu(1)


class Vanilla(Attention):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor) -> Tensor:
        """Mix x (B, T, C) → (B, T, C)."""
        Q, K, V = self.split(self.query_key_value(x)).chunk(3, dim=1)  # (B, nh, T, hs) each
        return self.attend(Q, K, V)

    def read(self, x: Tensor, source: Tensor) -> Tensor:
        """Let queries of x (B, T, C) see keys and values of source (B, S, C) up to their own number: (B, T, C)."""
        Q, _, _ = self.split(self.query_key_value(x)).chunk(3, dim=1)  # (B, nh, T, hs)
        _, K, V = self.split(self.query_key_value(source)).chunk(3, dim=1)  # (B, nh, S, hs) each
        return self.attend(Q, K, V)

    def attend(self, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        """Q (B, nh, T, hs), K and V (B, nh, S, hs) → (B, T, C)."""
        Q, K = self.apply_positions(Q), self.apply_positions(K)
        scores = Q @ K.transpose(2, 3) / math.sqrt(self.head_size)  # (B, nh, T, S)
        return self.average(scores, V)

    def apply_positions(self, x: Tensor) -> Tensor:
        """Put positions into queries or keys x (B, nh, T, hs); here they came with the embedding."""
        return x


class NoPositions(Vanilla):
    """The same without positions: only the mask tells what came first (Kazemnejad et al. 2023, arXiv 2305.19466)."""

    needs_positions: ClassVar[bool] = False


class Rope(Vanilla):
    """Queries and keys are rotated by their position (Su et al. 2021, arXiv 2104.09864).

    Channels i and i + hs/2 of a head are one complex number; position t multiplies it by exp(i t θᵢ) with
    θᵢ = theta^(-2i/hs).
    """

    needs_positions: ClassVar[bool] = False

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.theta = settings["theta"]

    def apply_positions(self, x: Tensor) -> Tensor:
        T = x.shape[2]
        turn = self.theta ** (-torch.arange(0, self.head_size, 2, device=x.device) / self.head_size)  # (hs/2,) radians
        angle = torch.outer(torch.arange(T, device=x.device), turn)  # (T, hs/2)
        real, imaginary = x.float().chunk(2, dim=3)  # (B, nh, T, hs/2) each; float() is for the benchmark's bfloat16
        turned = torch.complex(real, imaginary) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([turned.real, turned.imag], dim=3)  # (B, nh, T, hs)


class Window(Rope):
    """A query sees its own and the w-1 positions before (Beltagy et al. 2020, arXiv 2004.05150)."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.width = settings["width"]

    def unseen(self, T: int, S: int, device: torch.device) -> Tensor:
        far = torch.ones(T, S, dtype=torch.bool, device=device).tril(-self.width)
        return super().unseen(T, S, device) | far


class PerceiverAR(Vanilla):
    """After the first block a query sees the last m positions only (Hawthorne et al. 2022, arXiv 2202.07765)."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.latents = settings["latents"]

    def unseen(self, T: int, S: int, device: torch.device) -> Tensor:
        future = super().unseen(T, S, device)
        if self.layer == 0:
            return future
        return future | torch.ones(T, S, dtype=torch.bool, device=device).tril(-self.latents)


class MultiQuery(Attention):
    """Heads have queries of their own and share one set of keys and values (Shazeer 2019, arXiv 1911.02150)."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.query = nn.Linear(model.width, model.width)
        self.key_value = nn.Linear(model.width, 2 * self.head_size)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor) -> Tensor:
        """Mix x (B, T, C) → (B, T, C)."""
        Q = self.split(self.query(x))  # (B, nh, T, hs)
        K, V = self.split(self.key_value(x)).chunk(2, dim=1)  # (B, 1, T, hs) each
        scores = Q @ K.transpose(2, 3) / math.sqrt(self.head_size)  # (B, nh, T, T)
        return self.average(scores, V)


class RandomSynthesizer(Attention):
    """softmax(R)V: the scores R are learned, and the same for every text (Tay et al. 2020, arXiv 2005.00743)."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.scores = nn.Parameter(0.02 * torch.randn(model.heads, model.context, model.context))  # R
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor) -> Tensor:
        """Mix x (B, T, C) → (B, T, C)."""
        B, T, _ = x.shape
        return self.average(self.scores[:, :T, :T].repeat(B, 1, 1, 1), self.split(self.value(x)))


class Synthesizer(Attention):
    """softmax(relu(xW₁)W₂ + b₂)V: a position scores every key without seeing it, as the course has it.

    No column stands for the last position of the context. W₂ is drawn from U(-0.001, 0.001).
    """

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.hidden = nn.Linear(model.width, model.width)  # W₁
        # tables by position, as in the course's code: no linear layer, so Muon moves neither
        self.table = nn.Parameter(torch.empty(model.context - 1, self.head_size).uniform_(-0.001, 0.001))  # W₂ᵀ
        self.offsets = nn.Parameter(torch.zeros(model.context - 1))  # b₂
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor) -> Tensor:
        """Mix x (B, T, C) → (B, T, C)."""
        scores = self.split(F.relu(self.hidden(x))) @ self.table.T + self.offsets  # (B, nh, T, context - 1)
        # a column a key's position; the last position has none, and nobody sees it
        scores = F.pad(scores, (0, 1), value=-math.inf)[..., : x.shape[1]]  # (B, nh, T, T)
        return self.average(scores, self.split(self.value(x)))


MIXERS: dict[str, Any] = {
    "vanilla": Vanilla,
    "rope": Rope,
    "nope": NoPositions,
    "window": Window,
    "mqa": MultiQuery,
    "synthesizer": Synthesizer,
    "random_synthesizer": RandomSynthesizer,
    "perceiver": Vanilla,  # its first and last block read across, see model.py
    "perceiver_ar": PerceiverAR,
    "linear": Linear,
    "gated_deltanet": GatedDeltaNet,
    "min_gru": MinGRU,
    "rnn": RNN,
    "wrnn": WRNN,
}
