"""`synthesizer`: attention whose scores are computed from the state at the query's position alone, without keys.

Its plain form is `Synthesizer` of stages/plain/attention.py.
Tay et al. 2020, "Synthesizer: Rethinking Self-Attention in Transformer Models": the dense synthesizer,
https://arxiv.org/abs/2005.00743
"""

import math
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.attention import lower_triangle
from stages.model.cpu.library import has_kernels
from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.ops import attend_by_position, dropout
from stages.model.packing import Packing
from stages.model.state import ValueCache
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class Synthesizer(Mixer):
    """softmax(S)V, causal, with learned positions; S is the course's version of the paper's scores.

    ::

        S[h, t, s] = (relu(x_t W₁)_h W₂ + b₂)_s        no keys, no 1/√hs; W₁ with a bias

    relu(x W₁)_h is head h's share of the C channels; W₂ (hs, context-1) and b₂ are shared by the heads. No column
    stands for the key of the last position, context-1: no query but the last could see it, and the last one sees the
    positions before it only. As in the course's code W₂ is drawn from U(-0.001, 0.001), b₂ is zero at first, and both
    are tables to the optimizer, not a linear layer's matrix and bias.

    State: values, C numbers a position.
    """

    needs_positions = True
    by_position: ClassVar[Mapping[str, tuple[int, ...]]] = {"table": (0,), "offsets": (0,)}

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.hidden = nn.Linear(model.width, model.width)  # W₁
        self.table = nn.Parameter(torch.empty(model.context - 1, self.head_size))  # W₂, transposed
        nn.init.uniform_(self.table, -0.001, 0.001)
        self.offsets = nn.Parameter(torch.zeros(model.context - 1))  # b₂
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: ValueCache | None = None) -> Tensor:
        hidden = split_heads(F.relu(self.hidden(x)), self.heads)  # (B, nh, T, hs)
        v = split_heads(self.value(x), self.heads)  # (B, nh, T, hs)

        if state is None:
            visible = lower_triangle(hidden.shape[2], v.shape[2], x.device)  # (T, S)
        else:
            v, visible = state.extend(v)  # (B, nh, S, hs), (B, 1, T, S)
        S = min(v.shape[2], len(self.table))  # keys that have a score
        v, visible = v[:, :, :S], visible[..., :S]

        scores = F.linear(hidden, self.table[:S], self.offsets[:S])  # (B, nh, T, S)
        weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1)
        return self.projection(merge_heads(dropout(weights, self.dropout_rate) @ v))

    def packed(self, x: Tensor, packing: Packing) -> Tensor | None:
        if not has_kernels(x):
            return None
        hidden, values = F.relu(self.hidden(x)), self.value(x)  # (N, C) each
        return self.projection(
            attend_by_position(hidden, values, packing, self.table, self.offsets, self.heads, self.dropout_rate)
        )

    def empty_state(self, batch: int, positions: int) -> ValueCache:
        return ValueCache(self.value.weight.new_zeros(batch, self.heads, positions, self.head_size))
