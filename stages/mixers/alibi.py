"""`alibi`: causal softmax attention whose scores fall with the distance, and no other positions.

Press, Smith, Lewis 2021, "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
https://arxiv.org/abs/2108.12409
"""

import math
from typing import Any

import torch
from torch import Tensor

from stages.model.attention import CausalSelfAttention, lower_triangle
from stages.model.cache import KeyValueCache
from stages.model.mixer import merge_heads, split_heads
from stages.model.ops import dropout
from stages.model.packing import Packing
from stages.settings import Model


class Alibi(CausalSelfAttention):
    """softmax(QKᵀ/√hs − m_h (t − s))V, with slopes m_h = 2^(−8h/nh) of the heads h = 1 … nh.

    State: keys and values, 2·C numbers a position.
    """

    needs_positions = False

    def __init__(self, model: Model, settings: Any, layer: int) -> None:
        super().__init__(model, settings, layer)
        head = torch.arange(1, model.heads + 1)
        self.register_buffer("slopes", 2.0 ** (-8 * head / model.heads), persistent=False)

    def mix(self, x: Tensor, state: KeyValueCache | None = None) -> Tensor:
        T = x.shape[1]
        q, k, v = split_heads(self.query_key_value(x), 3 * self.heads).chunk(3, dim=1)  # (B, nh, T, hs) each
        if state is None:
            positions, visible = torch.arange(T, device=x.device)[None], lower_triangle(q, k)  # (1, T), (T, S)
        else:
            positions = state.next_positions(T)  # (B, T)
            k, v, visible = state.extend(k, v)  # (B, nh, S, hs) each, (B, 1, T, S)

        distance = positions[..., None] - torch.arange(k.shape[2], device=x.device)  # (B or 1, T, S)
        bias = self.get_buffer("slopes").float()[:, None, None] * distance[:, None]  # (B or 1, nh, T, S)
        scores = (q @ k.transpose(-2, -1)).float() * self.head_size**-0.5 - bias
        weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1).to(v.dtype)
        return self.projection(merge_heads(dropout(weights, self.dropout_rate) @ v))

    def packed(self, x: Tensor, packing: Packing) -> None:
        return None
