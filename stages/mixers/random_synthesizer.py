"""`random_synthesizer`: attention whose weights are learned and free of the input.

Its plain form is `RandomSynthesizer` of stages/plain/attention.py.
Tay et al. 2020, "Synthesizer: Rethinking Self-Attention in Transformer Models": the random synthesizer, trained,
https://arxiv.org/abs/2005.00743
"""

import math
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from stages.model.attention import lower_triangle
from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.ops import dropout
from stages.model.state import ValueCache
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class RandomSynthesizer(Mixer):
    """softmax(R)V, causal, with learned positions: R (nh, context, context) is a parameter, drawn from N(0, 0.02).

    Position t mixes the values of the positions up to its own in the same shares whatever the text says.
    State: values, C numbers a position.
    """

    needs_positions = True
    by_position: ClassVar[Mapping[str, tuple[int, ...]]] = {"scores": (1, 2)}

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.scores = nn.Parameter(0.02 * torch.randn(model.heads, model.context, model.context))  # R
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: ValueCache | None = None) -> Tensor:
        T = x.shape[1]
        v = split_heads(self.value(x), self.heads)  # (B, nh, T, hs)

        if state is None:
            scores, visible = self.scores[:, :T, :T], lower_triangle(T, T, v.device)  # (nh, T, S), (T, S)
        else:
            positions = state.next_positions(T)  # (B, T)
            v, visible = state.extend(v)  # (B, nh, S, hs), (B, 1, T, S)
            scores = self.scores[:, positions, : v.shape[2]].transpose(0, 1)  # (B, nh, T, S)

        weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1).expand(len(x), -1, -1, -1)
        return self.projection(merge_heads(dropout(weights, self.dropout_rate) @ v))

    def empty_state(self, batch: int, positions: int) -> ValueCache:
        return ValueCache(self.value.weight.new_zeros(batch, self.heads, positions, self.head_size))
