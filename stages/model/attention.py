"""Causal softmax attention: what the softmax variants share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.fused import attention_weights, dropout, merge_heads, rotate, split_heads
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


@dataclass
class WindowCache(State):
    """Keys and values of the last w-1 positions, oldest first; a row that has seen fewer has them at the end."""

    keys: Tensor  # (B, nh, w-1, hs)
    values: Tensor  # (B, nh, w-1, hs)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys and values (B, nh, T, hs), keep the last w-1.

        Returns the keys and values before and with the new ones (B, nh, w-1+T, hs), and which of them each new
        position may look at: (B, 1, T, w-1+T) bool.
        """
        before, T = self.keys.shape[2], keys.shape[2]
        keys, values = torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2)
        place = torch.arange(before + T, device=keys.device)
        distance = place[before:, None] - place  # (T, w-1+T)
        empty = before - self.lengths  # (B,) places that hold nothing; none if negative
        visible = (distance >= 0) & (distance <= before) & (place >= empty[:, None, None, None])  # (B, 1, T, w-1+T)
        self.keys, self.values = keys[:, :, T:].contiguous(), values[:, :, T:].contiguous()
        self.lengths = self.lengths + T
        return keys, values, visible


@dataclass
class ValueCache(State):
    """Values of the positions seen, for attention that compares no keys."""

    values: Tensor  # (B, nh, S, hs)

    def extend(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append values (B, nh, T, hs) after each row's length.

        Returns all values (B, nh, S', hs) up to the longest row, the positions of the new ones (B, T), and which
        values each of them may look at: (B, 1, T, S') bool.
        """
        B, _, T, _ = values.shape
        positions = self.lengths[:, None] + torch.arange(T, device=values.device)  # (B, T)
        rows = torch.arange(B, device=values.device)[:, None]  # (B, 1)
        self.values[rows, :, positions] = values.transpose(1, 2)
        self.lengths = self.lengths + T
        longest = int(self.lengths.max())
        visible = torch.arange(longest, device=values.device) <= positions[:, None, :, None]  # (B, 1, T, S')
        return self.values[:, :, :longest], positions, visible


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

    def forward(
        self, x: Tensor, shapes: Sequence[torch.Size], state: KeyValueCache | WindowCache | None = None
    ) -> Tensor:
        parts = split_heads(self.query_key_value(x), shapes, self.heads)  # q, k, v (B, nh, T, hs) of each part
        return self.projection(merge_heads([self._attend(q, k, v, state) for q, k, v in parts]))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, state: KeyValueCache | WindowCache | None) -> Tensor:
        positions = None if state is None else state.lengths[:, None] + torch.arange(q.shape[2], device=q.device)
        q, k = self.place(q, positions), self.place(k, positions)
        visible = None
        if state is not None:
            k, v, visible = state.extend(k, v)
        share_dropped = self.dropout if self.training else 0.0
        return attend(q, k, v, share_dropped, self.window, visible)  # (B, nh, T, hs)

    def empty_state(self, batch: int, positions: int) -> KeyValueCache | WindowCache:
        weight = self.projection.weight
        places = positions if self.window is None else self.window - 1
        shape = (batch, self.heads, places, self.head_size)
        lengths = torch.zeros(batch, dtype=torch.long, device=weight.device)
        cache = KeyValueCache if self.window is None else WindowCache
        return cache(lengths, weight.new_zeros(shape), weight.new_zeros(shape))


class RotaryAttention(CausalSelfAttention):
    """Queries and keys are rotated by their position, so their product depends on the distance only.

    Pair i turns by theta^(-2i/hs) a position (Su et al. 2021, arXiv 2104.09864). Channel i < hs/2 of a head is
    paired with channel i + hs/2; pairing neighbours instead would be the same model with its channels in another
    order.
    """

    needs_positions: ClassVar[bool] = False

    def __init__(self, model: Model, settings: Section, layer: int, theta: float) -> None:
        super().__init__(model, settings, layer)
        if self.head_size % 2:
            raise ValueError(f"rotary positions need an even head size, width / heads is {self.head_size}")
        pair = torch.arange(self.head_size // 2)
        turn = theta ** (-2 * pair / self.head_size)  # (hs/2,) radians a position
        angle = torch.arange(model.context)[:, None] * turn  # (context, hs/2)
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)

    def place(self, x: Tensor, positions: Tensor | None) -> Tensor:
        cosine, sine = self.get_buffer("cosine"), self.get_buffer("sine")
        if positions is None:
            T = x.shape[-2]
            return rotate(x, cosine[:T], sine[:T])
        return rotate(x, cosine[positions][:, None], sine[positions][:, None])  # tables (B, 1, T, hs/2)


def attend(
    q: Tensor, k: Tensor, v: Tensor, share_dropped: float, window: int | None = None, visible: Tensor | None = None
) -> Tensor:
    """Softmax attention of queries (B, nh, T, hs) to keys and values (B, nh, S, hs) → (B, nh, T, hs).

    share_dropped: share of the attention weights dropped; who sees whom: as in `weigh`.

    On a CPU this is written out: batched products and a softmax take less than half the time of
    the fused kernel's bfloat16 backward at these lengths (measured with torch 2.13).
    """
    if q.is_cuda and (window is None or visible is not None):
        return F.scaled_dot_product_attention(q, k, v, visible, share_dropped, is_causal=visible is None)
    scores = q @ k.transpose(-2, -1)  # (B, nh, T, S)
    return weigh(scores, q.shape[-1] ** -0.5, share_dropped, window, visible) @ v


def weigh(
    scores: Tensor, scale: float, share_dropped: float, window: int | None = None, visible: Tensor | None = None
) -> Tensor:
    """Weights dropout(softmax(scale · scores)) of the keys each query sees; scores (B, nh, T, S).

    Query t sees the last `window` keys up to the t-th, all of these with None; or those that are `visible`: bool,
    broadcastable to (B, nh, T, S).
    """
    if visible is None:
        first, last = causal(scores.shape[-2], scores.shape[-1], window, scores.device)
        return attention_weights(scores, first, last, scale, share_dropped)
    return dropout((scores * scale).masked_fill(~visible, float("-inf")).softmax(dim=-1), share_dropped)


def causal(queries: int, keys: int, window: int | None, device: torch.device) -> tuple[Tensor, Tensor]:
    """Each query's first key and the one after its last, (queries,) int32 each, for `attention_weights`."""
    last = torch.arange(1, queries + 1, dtype=torch.int32, device=device)
    return (last - (window or queries)).clamp(min=0), last.clamp(max=keys)
