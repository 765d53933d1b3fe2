"""Causal softmax attention: what the softmax variants share."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.fused import attention_weights, dropout, merge_heads, split_heads
from stages.model.mixer import Mixer, State
from stages.settings import Model, Section


@dataclass
class KeyValueCache(State):
    """Keys and values of the positions seen; positions past a row's length hold nothing of meaning."""

    keys: Tensor  # (B, nh, S, hs)
    values: Tensor  # (B, nh, S, hs)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys and values (B, nh, T, hs) after each row's length.

        Returns all keys and all values (B, nh, S', hs) up to the longest row, and which of them each new
        position may look at: (B, 1, T, S') bool.
        """
        B, _, T, _ = keys.shape
        positions = self.lengths[:, None] + torch.arange(T, device=keys.device)  # (B, T)
        rows = torch.arange(B, device=keys.device)[:, None]  # (B, 1)
        self.keys[rows, :, positions] = keys.transpose(1, 2)
        self.values[rows, :, positions] = values.transpose(1, 2)
        self.lengths = self.lengths + T
        longest = int(self.lengths.max())
        visible = torch.arange(longest, device=keys.device) <= positions[:, None, :, None]  # (B, 1, T, S')
        return self.keys[:, :, :longest], self.values[:, :, :longest], visible


class CausalSelfAttention(Mixer):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    window: int | None = None  # how many positions a query sees, its own included; None is all up to its own

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.heads = model.heads
        self.head_size = model.width // model.heads
        self.dropout = model.dropout
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def place(self, x: Tensor, positions: Tensor | None) -> Tensor:
        """Hook: put positions into queries or keys x (B, nh, T, hs); positions (B, T), or None for 0…T-1."""
        return x

    def forward(self, x: Tensor, shapes: Sequence[torch.Size], state: KeyValueCache | None = None) -> Tensor:
        parts = split_heads(self.query_key_value(x), shapes, self.heads)  # q, k, v (B, nh, T, hs) of each part
        return self.projection(merge_heads([self._attend(q, k, v, state) for q, k, v in parts]))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, state: KeyValueCache | None) -> Tensor:
        positions = None if state is None else state.lengths[:, None] + torch.arange(q.shape[2], device=q.device)
        q, k = self.place(q, positions), self.place(k, positions)
        visible = None
        if state is not None:
            k, v, visible = state.extend(k, v)
        share_dropped = self.dropout if self.training else 0.0
        return attend(q, k, v, share_dropped, self.window, visible)  # (B, nh, T, hs)

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        weight = self.projection.weight
        shape = (batch, self.heads, positions, self.head_size)
        lengths = torch.zeros(batch, dtype=torch.long, device=weight.device)
        return KeyValueCache(lengths, weight.new_zeros(shape), weight.new_zeros(shape))


def attend(
    q: Tensor, k: Tensor, v: Tensor, share_dropped: float, window: int | None = None, visible: Tensor | None = None
) -> Tensor:
    """Softmax attention of queries (B, nh, T, hs) to keys and values (B, nh, S, hs) → (B, nh, T, hs).

    share_dropped: share of the attention weights dropped. Query t sees the last `window` keys up to its own, all with
    None (then S = T); or those that are `visible`: bool, broadcastable to (B, nh, T, S).

    On a CPU this is written out: batched products and a softmax take less than half the time of
    the fused kernel's bfloat16 backward at these lengths (measured with torch 2.13).
    """
    if q.is_cuda and (window is None or visible is not None):
        return F.scaled_dot_product_attention(q, k, v, visible, share_dropped, is_causal=visible is None)
    scores = q @ k.transpose(-2, -1)  # (B, nh, T, S)
    scale = q.shape[-1] ** -0.5
    if visible is None:
        return attention_weights(scores, *causal(q.shape[-2], window, q.device), scale, share_dropped) @ v
    weights = (scores * scale).masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return dropout(weights, share_dropped) @ v


def causal(length: int, window: int | None, device: torch.device) -> tuple[Tensor, Tensor]:
    """Each query's first key and the one after its last, (length,) int32 each, for `attention_weights`."""
    last = torch.arange(1, length + 1, dtype=torch.int32, device=device)
    return (last - (window or length)).clamp(min=0), last
