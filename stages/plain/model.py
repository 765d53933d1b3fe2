"""The transformer of CS224N's assignment 5: embed characters, mix, predict each next one.

Shape letters: B batch, T time (characters), C width, m latents.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD
from stages.plain.attention import MIXERS
from stages.plain.recurrent import RNN
from stages.settings.params import ModelSettings


class PlainBlock(nn.Module):
    """x + mix(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, variant: str, model: ModelSettings, settings: dict[str, Any], layer: int) -> None:
        super().__init__()
        is_last = layer == model.layers - 1
        hidden = model.width * (settings.get("up_expansion", 4) if is_last else 4)  # the perceiver's last block has one
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer: Any = MIXERS[variant](model, settings)
        self.mixer.layer = layer
        self.norm_mlp = nn.LayerNorm(model.width)
        self.expand = nn.Linear(model.width, hidden)
        self.contract = nn.Linear(hidden, model.width)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        return self.add(x, self.mixer(self.norm_mixer(x)))

    def add(self, x: Tensor, mixed: Tensor) -> Tensor:
        """x + mixed, then the MLP of it; x, mixed: (B, T, C)."""
        x = x + self.dropout(mixed)
        return x + self.dropout(self.contract(F.gelu(self.expand(self.norm_mlp(x)))))


class PlainBackbone(nn.ModuleList):
    """One block after another."""

    def __init__(self, variant: str, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(PlainBlock(variant, model, settings, layer) for layer in range(model.layers))

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        for block in self:
            x = block(x)
        return x


class PlainPerceiver(PlainBackbone):
    """m latents read the characters, think, and are read by them (Jaegle et al. 2021, arXiv 2103.03206).

    Latent i sees characters up to i, and character i sees latents up to i. So a character before the m-th knows all up
    to its own; a later one knows the first m and itself, and none between.
    """

    def __init__(self, variant: str, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(variant, model, settings)
        self.residual = settings["residual"]
        # Drawn as (1, m, C), as in the course's code: the scale follows from m·C + C in place of m + C
        self.latents = nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, settings["bottleneck"], model.width))[0])

    def forward(self, x: Tensor) -> Tensor:
        blocks: list[Any] = list(self)
        down, *between, up = blocks
        latents = self.latents.repeat(len(x), 1, 1)  # (B, m, C)
        latents = down.add(latents, down.mixer.read(down.norm_mixer(latents), x))
        for block in between:
            latents = block(latents)

        read = up.mixer.read(x, up.norm_mixer(latents))  # (B, T, C)
        return up.add(x if self.residual else torch.zeros_like(x), read)


class PlainGPT(nn.Module):
    """Embedding, blocks, norm and head; parameters have the names of the study's.

    First weights of linear layers and embeddings are drawn from N(0, 0.02); biases and learned positions are zero.
    A mixer's docstring names what starts otherwise. The study draws from the same distributions, in another order: the
    same seed gives other weights there.
    """

    def __init__(self, variant: str, vocabulary_size: int, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__()
        self.context = model.context
        self.embedding = nn.Embedding(vocabulary_size, model.width)
        learned = MIXERS[variant].needs_positions
        self.positions = nn.Parameter(torch.zeros(model.context, model.width)) if learned else None
        self.dropout = nn.Dropout(model.dropout)
        backbone = PlainPerceiver if variant == "perceiver" else PlainBackbone
        self.blocks = backbone(variant, model, settings)
        self.norm = nn.LayerNorm(model.width)
        self.head = nn.Linear(model.width, vocabulary_size, bias=False)
        self.apply(_initialise)

    @classmethod
    def of(
        cls, variant: str, model: ModelSettings, settings: dict[str, Any], weights: Mapping[str, Tensor]
    ) -> "PlainGPT":
        """Make the model with a copy of these weights (a state_dict), in float32."""
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


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, RNN):
        module.initialise()


def cross_entropy(model: PlainGPT, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean over the targets of inputs, targets (B, T) int64, in nats a character; PAD is no target."""
    logits = model(inputs)  # (B, T, vocabulary size)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
