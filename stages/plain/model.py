"""The transformer of CS224N's assignment 5, in float32."""

import math
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.plain.attention import ATTENTION
from stages.settings import Model


class PlainBlock(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, variant: str, model: Model, settings: dict[str, Any], layer: int) -> None:
        super().__init__()
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer: Any = ATTENTION[variant](model, settings)
        self.mixer.layer = layer
        self.norm_mlp = nn.LayerNorm(model.width)
        self.expand = nn.Linear(model.width, 4 * model.width)
        self.contract = nn.Linear(4 * model.width, model.width)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        return self.add(x, self.mixer(self.norm_mixer(x)))

    def add(self, x: Tensor, mixed: Tensor) -> Tensor:
        """x + mixed, then the MLP of it."""
        x = x + self.dropout(mixed)
        return x + self.dropout(self.contract(F.gelu(self.expand(self.norm_mlp(x)))))


class PlainBackbone(nn.ModuleList):
    """One block after another."""

    def __init__(self, variant: str, model: Model, settings: dict[str, Any]) -> None:
        super().__init__([PlainBlock(variant, model, settings, layer) for layer in range(model.layers)])

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        for block in self:
            x = block(x)
        return x


class PlainPerceiver(PlainBackbone):
    """m latents read the characters, think, and are read by them (Jaegle et al. 2021, arXiv 2103.03206).

    All m latents are computed, whatever the length; the masks alone keep the order.
    """

    def __init__(self, variant: str, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(variant, model, settings)
        self.residual = settings["residual"]
        self.latents = nn.Parameter(torch.empty(settings["bottleneck"], model.width))

    def forward(self, x: Tensor) -> Tensor:
        down, *blocks, up = cast(list[PlainBlock], list(self))
        latents = self.latents.repeat(len(x), 1, 1)  # (B, m, C)
        latents = down.add(latents, cross_attention(down.mixer, down.norm_mixer(latents), x))
        for block in blocks:
            latents = block(latents)
        read = cross_attention(up.mixer, x, up.norm_mixer(latents))  # (B, T, C)
        return up.add(x if self.residual else torch.zeros_like(x), read)


def cross_attention(mixer: Any, asking: Tensor, asked: Tensor) -> Tensor:
    """Queries of `asking` (B, T, C) see keys and values of `asked` (B, S, C) up to their own number: (B, T, C)."""
    (B, T, C), S = asking.shape, asked.shape[1]
    query = mixer.query_key_value(asking)[..., :C].view(B, T, mixer.heads, -1).transpose(1, 2)  # (B, nh, T, hs)
    key, value = (
        each.reshape(B, S, mixer.heads, -1).transpose(1, 2)  # (B, nh, S, hs)
        for each in mixer.query_key_value(asked)[..., C:].chunk(2, dim=2)
    )
    scores = query @ key.transpose(2, 3) / math.sqrt(C // mixer.heads)  # (B, nh, T, S)
    unseen = torch.ones(T, S, dtype=torch.bool, device=asking.device).triu(1)
    weights = F.softmax(scores.masked_fill(unseen, -math.inf), dim=-1)
    mixed = F.dropout(weights, mixer.dropout, mixer.training) @ value  # (B, nh, T, hs)
    return mixer.projection(mixed.transpose(1, 2).reshape(B, T, C))


class PlainGPT(nn.Module):
    """Embeds characters, mixes, predicts each next character; its parameters have the names of the study's."""

    def __init__(self, variant: str, vocabulary_size: int, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.context = model.context
        self.embedding = nn.Embedding(vocabulary_size, model.width)
        learned = ATTENTION[variant].learned_positions
        self.positions = nn.Parameter(torch.zeros(model.context, model.width)) if learned else None
        self.dropout = nn.Dropout(model.dropout)
        backbone = PlainPerceiver if variant == "perceiver" else PlainBackbone
        self.blocks = backbone(variant, model, settings)
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
        x = self.blocks(self.dropout(x))
        return self.head(self.norm(x))


def cross_entropy(model: PlainGPT, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean over the targets of inputs, targets (B, T) int64, in nats a character; PAD, 0, is no target."""
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=0)
