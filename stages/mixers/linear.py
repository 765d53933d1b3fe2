"""`linear`: linear attention.

Katharopoulos et al. 2020, "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
https://arxiv.org/abs/2006.16236
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from stages.model.heads import merge_heads, split_heads
from stages.model.mixer import SequenceMixer, State
from stages.model.ops import wide
from stages.model.packing import Packing
from stages.settings import Model, Section

CHUNK = 128  # positions whose pairs are all multiplied with each other; what is before them comes as sums


@dataclass
class Sums(State):
    """All that linear attention keeps of the past, whatever its length."""

    products: Tensor  # (B, nh, hs, hs) float32 at least: S, the sum of φ(k)vᵀ
    keys: Tensor  # (B, nh, hs) the same: z, the sum of φ(k)


class Mixer(SequenceMixer):
    """Attention whose weights are φ(q)·φ(k) over their sum, φ(x) = elu(x) + 1, instead of a softmax.

    The sums over the past can then be carried along: S += φ(k)vᵀ, z += φ(k), o = φ(q)S / φ(q)z. They are carried from
    chunk to chunk, in float32; within a chunk all weights at once, (c, c), are faster than one position after another.
    So T positions cost T·(c + hs)·C, and one chunk is attention as it is written above. Dropout of attention weights
    is left out: the sums hold no single weight that could be dropped.

    State: S and z, C·(hs + 1) numbers whatever the length.
    """

    needs_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: Sums | None = None) -> Tensor:
        B, T, _ = x.shape
        packing = Packing.full((B, T))
        ((q, k, v),) = split_heads(self.query_key_value(x).flatten(0, 1), packing, self.heads)  # (B, nh, T, hs) each
        past = None if state is None else torch.cat([state.products, state.keys[..., None]], dim=-1)
        if past is not None or T > CHUNK:  # sums are carried on
            q, k, v = wide(q), wide(k), wide(v)
        q, k = feature(q), feature(k)
        v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)  # (B, nh, T, hs + 1): the last sums up the weights

        parts: list[Tensor] = []
        chunks = zip(*(each.split(CHUNK, dim=2) for each in (q, k, v)), strict=True)
        for number, (q, k, v) in enumerate(chunks, 1):
            part = (q @ k.transpose(-2, -1)).tril() @ v  # (B, nh, c, hs + 1)
            parts.append(part if past is None else part + q @ past)
            if state is not None or number * CHUNK < T:  # more positions follow, now or later
                added = k.transpose(-2, -1) @ v  # (B, nh, hs, hs + 1): S and, last, z
                past = added if past is None else past + added
        if state is not None and past is not None:
            state.products, state.keys = past[..., :-1], past[..., -1]
            state.lengths = state.lengths + T

        sums = torch.cat(parts, dim=2)  # (B, nh, T, hs + 1)
        mixed = sums[..., :-1] / sums[..., -1:]  # (B, nh, T, hs)
        return self.projection(merge_heads([mixed.to(x.dtype)], packing)).view_as(x)

    def empty_state(self, batch: int, positions: int) -> Sums:
        like = self.projection.weight
        products = wide(like.new_zeros(batch, self.heads, self.head_size, self.head_size))
        return Sums(like.new_zeros(batch, dtype=torch.long), products, products[..., 0].clone())


def feature(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1, and never 0: written so that far below zero nothing is lost beside the 1."""
    y: Tensor = _Feature.apply(x)
    return y


class _Feature(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = x.clamp(max=0).exp().add_(x.relu())
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return gradient * y.clamp(max=1)  # the slope is y itself up to 0, where y is 1, and 1 above
