"""`mqa`: multi-query attention, in plain form `MultiQuery` of stages/plain/attention.py.

Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need", https://arxiv.org/abs/1911.02150
"""

from torch import Tensor, nn

from stages.model.attention import attend, attend_packed, lower_triangle
from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.packing import Packing
from stages.model.state import KeyValueCache
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class MultiQuery(Mixer):
    """softmax(QKᵀ/√hs)V, causal, with one set of keys and values that all heads look at; learned positions.

    State: one head's keys and values, 2·hs numbers a position.
    """

    needs_positions = True

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query = nn.Linear(model.width, model.width)
        self.key_value = nn.Linear(model.width, 2 * self.head_size)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: KeyValueCache | None = None) -> Tensor:
        q = split_heads(self.query(x), self.heads)  # (B, nh, T, hs)
        k, v = split_heads(self.key_value(x), 2).chunk(2, dim=1)  # (B, 1, T, hs) each

        if state is None:
            visible = lower_triangle(q.shape[2], k.shape[2], x.device)  # (T, S)
        else:
            k, v, visible = state.extend(k, v)  # (B, 1, S, hs) each, (B, 1, T, S)

        return self.projection(merge_heads(attend(q, k, v, visible, self.dropout_rate)))

    def packed(self, x: Tensor, packing: Packing) -> Tensor:
        query, key_value = self.query(x), self.key_value(x)  # (N, C), (N, 2·hs)
        mixed = attend_packed([query, key_value], [packing, packing], (self.heads, 1), self.dropout_rate)
        return self.projection(mixed)

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        keys = self.projection.weight.new_zeros(batch, 1, positions, self.head_size)
        return KeyValueCache(keys, keys.clone())
