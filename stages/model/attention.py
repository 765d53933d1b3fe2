"""Causal softmax attention: what the softmax variants share, and what they remember of the positions they have seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.kernels import Angles, attend_varlen, attends, dropout, head_size_of
from stages.model.mixer import Mixer, State, merge_heads, split_heads
from stages.model.packing import Packing
from stages.settings import ModelSettings


@dataclass
class Cache(State):
    """A vector for each head and position, as many positions as there is room for, in tensors (B, nh, room, hs)."""

    @classmethod
    def empty(cls, batch: int, heads: int, room: int, head_size: int, like: Tensor) -> Self:
        """Cache of sequences that have seen nothing yet, of the type and on the device of `like`."""
        lengths = torch.zeros(batch, dtype=torch.long, device=like.device)
        return cls(lengths, *(like.new_zeros(batch, heads, room, head_size) for _ in fields(cls)[1:]))

    def extend(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Append vectors (B, nh, T, hs) after each sequence's length; what no longer fits is left out.

        Returns what the new positions may look at, as `seen_from` does.
        """
        T = vectors[0].shape[2]
        positions = self.next_positions(T)  # (B, T)
        sequence, new = (positions < self.room).nonzero(as_tuple=True)
        for kept, added in zip(self.vectors, vectors, strict=True):
            kept[sequence, :, positions[sequence, new]] = added[sequence, :, new]
        self.lengths = self.lengths + T
        return self.seen_from(positions)

    def seen_from(self, positions: Tensor) -> tuple[Tensor, ...]:
        """Vectors (B, nh, S, hs) of each kind, and which of them positions (B, T) may look at: (B, 1, T, S) bool."""
        filled = min(int(self.lengths.max()), self.room)
        visible = torch.arange(filled, device=positions.device) <= positions[:, None, :, None]
        return *(kept[:, :, :filled] for kept in self.vectors), visible

    @property
    def vectors(self) -> list[Tensor]:
        """Vectors of each kind, (B, nh, room, hs)."""
        return self.tensors[1:]

    @property
    def room(self) -> int:
        """Most positions it remembers."""
        return self.vectors[0].shape[2]


@dataclass
class KeyValueCache(Cache):
    """Keys and values of the positions seen."""

    keys: Tensor  # (B, nh, room, hs)
    values: Tensor  # (B, nh, room, hs)


@dataclass
class ValueCache(Cache):
    """Values of the positions seen, for attention that compares no keys."""

    values: Tensor  # (B, nh, room, hs)


@dataclass
class WindowCache(KeyValueCache):
    """Keys and values of the last w-1 positions, oldest first; a sequence that has seen fewer has them at the end.

    A sequence that gets fewer than w-1 positions in all has room for only so many.
    """

    def extend(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Append keys and values (B, nh, T, hs), keep the last w-1.

        Returns the keys and values before and with the new ones (B, nh, w-1+T, hs), and which of them each new
        position may look at: (B, 1, T, w-1+T) bool.
        """
        T = vectors[0].shape[2]
        keys, values = (torch.cat(pair, dim=2) for pair in zip(self.vectors, vectors, strict=True))
        slot = torch.arange(self.room + T, device=keys.device)
        distance = slot[self.room :, None] - slot  # (T, w-1+T)
        empty = self.room - self.lengths  # (B,) slots that hold nothing; none if negative
        visible = (distance >= 0) & (distance <= self.room) & (slot >= empty[:, None, None, None])  # (B, 1, T, w-1+T)
        self.keys, self.values = keys[:, :, T:].contiguous(), values[:, :, T:].contiguous()
        self.lengths = self.lengths + T
        return keys, values, visible


class CausalSelfAttention(Mixer):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    window: int | None = None  # how many positions a query sees, its own included; None is all up to its own

    def __init__(self, model: ModelSettings, settings: Any, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: KeyValueCache | None = None) -> Tensor:
        T = x.shape[1]
        q, k, v = split_heads(self.query_key_value(x), 3 * self.heads).chunk(3, dim=1)  # (B, nh, T, hs) each
        positions = torch.arange(T, device=x.device)[None] if state is None else state.next_positions(T)  # (B or 1, T)
        q, k = self.place(q, positions), self.place(k, positions)

        if state is None:
            visible = lower_triangle(q, k, self.window)  # (T, S)
        else:
            k, v, visible = state.extend(k, v)  # (B, nh, S, hs) each, (B, 1, T, S)

        return self.projection(merge_heads(attend(q, k, v, visible, self.dropout_rate)))

    def place(self, x: Tensor, positions: Tensor) -> Tensor:
        """Put positions (B or 1, T) into queries or keys x (B, nh, T, hs); here they came with the embedding."""
        return x

    def packed(self, x: Tensor, packing: Packing) -> Tensor | None:
        joined, heads = self.query_key_value(x), (self.heads, self.heads)  # (N, 3C)
        return self.projection(attend_packed([joined], [packing], heads, self.dropout_rate, self.window, self.angles()))

    def angles(self) -> Angles | None:
        """Angles by which `place` turns each position, for `attend_packed`."""
        return None

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        like = self.projection.weight
        if self.window is None:
            return KeyValueCache.empty(batch, self.heads, positions, self.head_size, like)
        return WindowCache.empty(batch, self.heads, min(self.window - 1, positions), self.head_size, like)


class RotaryAttention(CausalSelfAttention):
    """Queries and keys are rotated by their position, so their product depends on the distance only.

    Pair i turns by theta^(-2i/hs) a position (Su et al. 2021, arXiv 2104.09864). Channel i < hs/2 of a head is
    paired with channel i + hs/2; pairing neighbours instead would be the same model with its channels in another
    order.
    """

    needs_positions = False

    def __init__(self, model: ModelSettings, settings: Any, layer: int) -> None:
        """Take the base of the wavelengths from `settings.theta`."""
        super().__init__(model, settings, layer)
        if self.head_size % 2:
            raise ValueError(f"rotary positions need an even head size, width / heads is {self.head_size}")
        cosine = sine = torch.empty(model.context, self.head_size // 2)
        if not cosine.is_meta:  # where a model is only checked arithmetic would load torch._dynamo, for a second
            turn = settings.theta ** (-2 * torch.arange(self.head_size // 2) / self.head_size)  # (hs/2,) radians
            angle = torch.arange(model.context)[:, None] * turn  # (context, hs/2)
            cosine, sine = angle.cos(), angle.sin()
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def place(self, x: Tensor, positions: Tensor) -> Tensor:
        cosine, sine = (table[positions][:, None] for table in self.angles())  # (B or 1, 1, T, hs/2) each
        return rotate(x, cosine, sine)

    def angles(self) -> Angles:
        return self.get_buffer("cosine"), self.get_buffer("sine")


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn each pair (x[…, i], x[…, i + hs/2]) by an angle. x: (…, T, hs); cosine, sine: (…, T, hs/2), broadcast."""
    both_cosines, both_sines = torch.cat([cosine, cosine], dim=-1), torch.cat([-sine, sine], dim=-1)  # (…, T, hs)
    return x * both_cosines + x.roll(x.shape[-1] // 2, dims=-1) * both_sines


def lower_triangle(q: Tensor, k: Tensor, window: int | None = None) -> Tensor:
    """Which keys (columns) a query (row) sees: the last `window` up to its own, or all of these; (T, S) bool.

    q: (…, T, hs); k: (…, S, hs).
    """
    triangle = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    return triangle if window is None else triangle.triu(1 - window)


def attend(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_rate: float) -> Tensor:
    """dropout(softmax(QKᵀ/√hs))V over the visible keys: (B, nh, T, hs).

    q: (B, nh, T, hs); k, v: (B, nk, S, hs), with a head for each of the queries' or one for all of them; visible:
    bool, broadcast to (B, nh, T, S), or None: those up to each query's own.
    """
    B, nh, T, hs = q.shape
    if not q.is_cpu:  # the same in one kernel, which reads no mask where it needs none
        k, v = k.expand(-1, nh, -1, -1), v.expand(-1, nh, -1, -1)
        return F.scaled_dot_product_attention(q, k, v, visible, dropout_rate, is_causal=visible is None)

    if visible is None:
        visible = lower_triangle(q, k)
    q = q.reshape(B, k.shape[1], -1, hs)  # heads that share keys as one, (B, nk, nh/nk · T, hs)
    scores = (q @ k.transpose(-2, -1)).view(B, nh, T, -1) * hs**-0.5  # (B, nh, T, S)
    weights = dropout(scores.masked_fill(~visible, -math.inf).softmax(dim=-1), dropout_rate)
    return (weights.view(*q.shape[:3], -1) @ v).view(B, nh, T, hs)


def attend_packed(
    tensors: Sequence[Tensor],
    packings: Sequence[Packing],
    heads: tuple[int, int],
    dropout_rate: float,
    window: int | None = None,
    angles: Angles | None = None,
) -> Tensor:
    """Attend in all sequences of a packed batch, fast: arguments and result are those of `attend_varlen`."""
    query_heads, key_heads = heads
    head_size = head_size_of(tensors, heads)
    if attends(tensors[0], head_size):
        return attend_varlen(tensors, packings, heads, dropout_rate, window, angles)

    mixed = []
    for parts in zip(*(packing.rectangles(x) for x, packing in zip(tensors, packings, strict=True)), strict=True):
        by_head = [split_heads(part, part.shape[2] // head_size) for part in parts]  # (B, ·, T or S, hs)
        q = by_head[0][:, :query_heads]  # (B, nh, T, hs)
        k, v = by_head[-1][:, -2 * key_heads :].chunk(2, dim=1)  # (B, nk, S, hs) each
        if angles is not None:
            cosine, sine = (table[: q.shape[2]] for table in angles)  # (T, hs/2) each
            q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        visible = None if window is None else lower_triangle(q, k, window)
        mixed.append(merge_heads(attend(q, k, v, visible, dropout_rate)))
    return packings[0].join(mixed)
