"""`random_synthesizer`: attention whose weights are learned and free of the input.

Tay et al. 2020, "Synthesizer: Rethinking Self-Attention in Transformer Models": the random synthesizer, trained,
https://arxiv.org/abs/2005.00743
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from stages.model.cache import ValueCache
from stages.model.heads import merge_heads, split_heads
from stages.model.mixer import Mixer as BaseMixer
from stages.model.ops import attention_weights
from stages.model.packing import Packing
from stages.settings import Model, Section


class Mixer(BaseMixer):
    """softmax(R)V, causal, with learned positions: R (nh, context, context) is a parameter, drawn from N(0, 0.02).

    Position t mixes the values of the positions up to its own in the same shares whatever the text says.
    State: values, C numbers a position.
    """

    needs_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.scores = nn.Parameter(0.02 * torch.randn(model.heads, model.context, model.context))  # R
        self.value = nn.Linear(model.width, model.width)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor, packing: Packing, state: ValueCache | None = None) -> Tensor:
        values = split_heads(self.value(x), packing, self.heads, kinds=1)  # (B, nh, T, hs) of each part
        return self.projection(merge_heads([self._mix(v, state) for (v,) in values], packing))

    def _mix(self, v: Tensor, state: ValueCache | None) -> Tensor:
        B, _, T, _ = v.shape
        if state is None:
            scores, visible = self.scores[:, :T, :T].expand(B, -1, -1, -1), None  # (B, nh, T, T)
        else:
            positions = state.next_positions(T)
            v, visible = state.extend(v)
            scores = self.scores[:, positions, : v.shape[2]].transpose(0, 1)  # (B, nh, T, S)
        return attention_weights(scores, 1.0, self.dropout_rate, visible=visible) @ v  # (B, nh, T, hs)

    def empty_state(self, batch: int, positions: int) -> ValueCache:
        return ValueCache.empty(batch, self.heads, positions, self.head_size, self.value.weight)
