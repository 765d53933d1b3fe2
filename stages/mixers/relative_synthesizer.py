"""`relative_synthesizer`: a synthesizer whose scores belong to distances in place of positions.

Tay et al. 2020, "Synthesizer: Rethinking Self-Attention in Transformer Models", has the scores by position,
https://arxiv.org/abs/2005.00743
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.attention import lower_triangle
from stages.model.cache import ValueCache
from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.ops import dropout
from stages.settings import Model, Section


class RelativeSynthesizer(Mixer):
    """softmax(S)V, causal, with S[h, t, s] = (relu(x_t W₁)_h W₂ + b₂)_(t−s); no keys and no learned positions.

    First weights are those of `synthesizer`. State: values, C numbers a position.
    """

    needs_positions = False

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.hidden = nn.Linear(model.width, model.width)  # W₁
        self.table = nn.Parameter(torch.empty(model.context, self.head_size).uniform_(-0.001, 0.001))  # W₂, transposed
        self.offsets = nn.Parameter(torch.zeros(model.context))  # b₂
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: ValueCache | None = None) -> Tensor:
        T = x.shape[1]
        hidden = split_heads(F.relu(self.hidden(x)), self.heads)  # (B, nh, T, hs)
        v = split_heads(self.value(x), self.heads)  # (B, nh, T, hs)
        if state is None:
            positions, visible = torch.arange(T, device=x.device)[None], lower_triangle(hidden, v)  # (1, T), (T, S)
        else:
            positions = state.next_positions(T)  # (B, T)
            v, visible = state.extend(v)  # (B, nh, S, hs), (B, 1, T, S)

        by_distance = F.linear(hidden, self.table, self.offsets)  # (B, nh, T, context)
        distance = (positions[..., None] - torch.arange(v.shape[2], device=x.device)).clamp(min=0)  # (B or 1, T, S)
        distance = distance.clamp(max=len(self.table) - 1)[:, None].expand(len(x), self.heads, -1, -1)
        weights = by_distance.gather(3, distance).masked_fill(~visible, -math.inf).softmax(dim=-1)
        return self.projection(merge_heads(dropout(weights, self.dropout_rate) @ v))

    def empty_state(self, batch: int, positions: int) -> ValueCache:
        return ValueCache.empty(batch, self.heads, positions, self.head_size, self.value.weight)
