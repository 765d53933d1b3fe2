"""The transformer of CS224N's assignment 5, in float32."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.settings import Model
from tests.reference.attention import ATTENTION


class PlainBlock(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, variant: str, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer = ATTENTION[variant](model, settings)
        self.norm_mlp = nn.LayerNorm(model.width)
        self.expand = nn.Linear(model.width, 4 * model.width)
        self.contract = nn.Linear(4 * model.width, model.width)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        x = x + self.dropout(self.mixer(self.norm_mixer(x)))
        return x + self.dropout(self.contract(F.gelu(self.expand(self.norm_mlp(x)))))


class PlainGPT(nn.Module):
    """Embeds characters, mixes, predicts each next character; its parameters have the names of the study's."""

    def __init__(self, variant: str, vocabulary_size: int, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.context = model.context
        self.embedding = nn.Embedding(vocabulary_size, model.width)
        learned = ATTENTION[variant].learned_positions
        self.positions = nn.Parameter(torch.zeros(model.context, model.width)) if learned else None
        self.dropout = nn.Dropout(model.dropout)
        self.blocks = nn.ModuleList([PlainBlock(variant, model, settings) for _ in range(model.layers)])
        self.norm = nn.LayerNorm(model.width)
        self.head = nn.Linear(model.width, vocabulary_size, bias=False)

    @classmethod
    def of(cls, variant: str, model: Model, settings: dict[str, Any], weights: Mapping[str, Tensor]) -> "PlainGPT":
        """The model with a copy of these weights (a state_dict), in float32."""
        plain = cls(variant, len(weights["head.weight"]), model, settings)
        plain.load_state_dict(weights)
        return plain.to(weights["head.weight"].device)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) int64 → logits (B, T, vocabulary size) of the character after each."""
        x = self.embedding(tokens)  # (B, T, C)
        if self.positions is not None:
            x = x + self.positions[: tokens.shape[1]]
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def cross_entropy(model: PlainGPT, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean over the targets of inputs, targets (B, T) int64, in nats a character; PAD, 0, is no target."""
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=0)
