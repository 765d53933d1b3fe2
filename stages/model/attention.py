"""Causal softmax attention, which the softmax variants share."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.library import has_kernels
from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.ops import Angles, attend_varlen, dropout, head_size_of
from stages.model.packing import Packing
from stages.model.state import KeyValueCache, WindowCache
from stages.settings.params import ModelSettings


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
        q, k = self.apply_positions(q, positions), self.apply_positions(k, positions)

        if state is None:
            visible = lower_triangle(T, T, x.device, self.window)  # (T, S)
        else:
            k, v, visible = state.extend(k, v)  # (B, nh, S, hs) each, (B, 1, T, S)

        return self.projection(merge_heads(attend(q, k, v, visible, self.dropout_rate)))

    def apply_positions(self, x: Tensor, positions: Tensor) -> Tensor:
        """Put positions (B or 1, T) into queries or keys x (B, nh, T, hs); here they came with the embedding."""
        return x

    def packed(self, x: Tensor, packing: Packing) -> Tensor | None:
        joined, heads = self.query_key_value(x), (self.heads, self.heads)  # (N, 3C)
        return self.projection(attend_packed([joined], [packing], heads, self.dropout_rate, self.window, self.angles()))

    def angles(self) -> Angles | None:
        """Angles by which `apply_positions` turns each position, for `attend_packed`."""
        return None

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        room = positions if self.window is None else min(self.window - 1, positions)
        keys = self.projection.weight.new_zeros(batch, self.heads, room, self.head_size)
        return (KeyValueCache if self.window is None else WindowCache)(keys, keys.clone())


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

    def apply_positions(self, x: Tensor, positions: Tensor) -> Tensor:
        cosine, sine = (table[positions][:, None] for table in self.angles())  # (B or 1, 1, T, hs/2) each
        return rotate(x, cosine, sine)

    def angles(self) -> Angles:
        return self.get_buffer("cosine"), self.get_buffer("sine")


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn each pair (x[…, i], x[…, i + hs/2]) by an angle. x: (…, T, hs); cosine, sine: (…, T, hs/2), broadcast."""
    both_cosines, both_sines = torch.cat([cosine, cosine], dim=-1), torch.cat([-sine, sine], dim=-1)  # (…, T, hs)
    return x * both_cosines + x.roll(x.shape[-1] // 2, dims=-1) * both_sines


def lower_triangle(T: int, S: int, device: torch.device, window: int | None = None) -> Tensor:
    """Which of S keys (columns) each of T queries (rows) sees: the last `window` up to its own, or all; (T, S) bool."""
    triangle = torch.ones(T, S, dtype=torch.bool, device=device).tril()
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
        visible = lower_triangle(T, k.shape[2], k.device)
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
    if has_kernels(tensors[0]):
        return attend_varlen(tensors, packings, heads, dropout_rate, window, angles)

    mixed = []
    for parts in zip(*(packing.rectangles(x) for x, packing in zip(tensors, packings, strict=True)), strict=True):
        by_head = [split_heads(part, part.shape[2] // head_size) for part in parts]  # (B, ·, T or S, hs)
        q = by_head[0][:, :query_heads]  # (B, nh, T, hs)
        k, v = by_head[-1][:, -2 * key_heads :].chunk(2, dim=1)  # (B, nk, S, hs) each
        if angles is not None:
            cosine, sine = (table[: q.shape[2]] for table in angles)  # (T, hs/2) each
            q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        visible = None if window is None else lower_triangle(q.shape[2], k.shape[2], k.device, window)
        mixed.append(merge_heads(attend(q, k, v, visible, dropout_rate)))
    return packings[0].join(mixed)
