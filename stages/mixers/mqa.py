"""`mqa`: multi-query attention.

Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need", https://arxiv.org/abs/1911.02150
"""

from typing import ClassVar

from torch import Tensor, nn

from stages.model.attention import attend
from stages.model.cache import KeyValueCache
from stages.model.cpu.varlen_attention import attend_varlen, serves
from stages.model.heads import merge_heads, split_heads
from stages.model.mixer import Mixer as BaseMixer
from stages.model.ops import attention_weights
from stages.model.packing import Packing
from stages.settings import Model, Section


class Mixer(BaseMixer):
    """softmax(QKᵀ/√hs)V, causal, with one set of keys and values that all heads look at; learned positions.

    State: one head's keys and values, 2·hs numbers a position.
    """

    needs_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query = nn.Linear(model.width, model.width)
        self.key_value = nn.Linear(model.width, 2 * self.head_size)
        self.projection = nn.Linear(model.width, model.width)

    def forward(self, x: Tensor, packing: Packing, state: KeyValueCache | None = None) -> Tensor:
        query, key_value = self.query(x), self.key_value(x)  # (N, C), (N, 2·hs)
        if state is None and serves(query, self.head_size):
            return self.projection(
                attend_varlen(query, key_value, packing, packing, (self.heads, 1), self.dropout_rate)
            )
        queries = split_heads(query, packing, self.heads, kinds=1)  # (B, nh, T, hs) of each part
        keys_values = split_heads(key_value, packing, heads=2, kinds=1)  # (B, 2, T, hs)
        parts = zip(queries, keys_values, strict=True)
        return self.projection(merge_heads([self._attend(q, kv, state) for (q,), (kv,) in parts], packing))

    def _attend(self, q: Tensor, kv: Tensor, state: KeyValueCache | None) -> Tensor:
        k, v = kv.split(1, dim=1)  # (B, 1, T, hs)
        visible = None
        if state is not None:
            k, v, visible = state.extend(k, v)
        B, nh, T, hs = q.shape
        if not q.is_cpu:
            return attend(q, k.expand(-1, nh, -1, -1), v.expand(-1, nh, -1, -1), self.dropout_rate, visible=visible)
        scores = q.reshape(B, nh * T, hs) @ k[:, 0].transpose(-2, -1)  # (B, nh·T, S): one product for all heads
        scores = scores.view(B, nh, T, -1)
        weights = attention_weights(scores, hs**-0.5, self.dropout_rate, visible=visible)  # (B, nh, T, S)
        return (weights.view(B, nh * T, -1) @ v[:, 0]).view(B, nh, T, hs)

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        return KeyValueCache.empty(batch, 1, positions, self.head_size, self.projection.weight)
