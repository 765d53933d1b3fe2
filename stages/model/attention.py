"""Causal softmax attention: what the softmax variants share."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cache import KeyValueCache, WindowCache
from stages.model.cpu.varlen_attention import Angles, attend_varlen, serves
from stages.model.heads import merge_heads, split_heads
from stages.model.mixer import Mixer
from stages.model.ops import attention_weights
from stages.model.packing import Packing
from stages.settings import Model, Section


class CausalSelfAttention(Mixer):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    window: int | None = None  # how many positions a query sees, its own included; None is all up to its own

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def angles(self) -> Angles | None:
        """Hook: the angles by which each position turns queries and keys, cosine and sine (context, hs/2) each."""
        return None

    def turned(self, x: Tensor, positions: Tensor | None) -> Tensor:
        """Queries or keys x (B, nh, T, hs), turned by their angles; positions (B, T), or None for 0…T-1."""
        angles = self.angles()
        if angles is None:
            return x
        cosine, sine = (each[: x.shape[-2]] if positions is None else each[positions][:, None] for each in angles)
        return rotate(x, cosine, sine)  # tables (T, hs/2) or (B, 1, T, hs/2)

    def forward(self, x: Tensor, packing: Packing, state: KeyValueCache | None = None) -> Tensor:
        joined = self.query_key_value(x)  # (N, 3C)
        if state is None and serves(joined, self.head_size):
            heads = self.heads, self.heads
            mixed = attend_varlen(joined, None, packing, packing, heads, self.dropout_rate, self.window, self.angles())
            return self.projection(mixed)
        parts = split_heads(joined, packing, self.heads)  # q, k, v (B, nh, T, hs) of each part
        return self.projection(merge_heads([self._attend(q, k, v, state) for q, k, v in parts], packing))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, state: KeyValueCache | None) -> Tensor:
        positions = None if state is None else state.next_positions(q.shape[2])
        q, k = self.turned(q, positions), self.turned(k, positions)
        visible = None
        if state is not None:
            k, v, visible = state.extend(k, v)
        return attend(q, k, v, self.dropout_rate, self.window, visible)  # (B, nh, T, hs)

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

    def angles(self) -> Angles:
        return self.get_buffer("cosine"), self.get_buffer("sine")


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn each pair (x[…, i], x[…, i + hs/2]) by an angle. x: (…, T, hs); cosine, sine: (…, T, hs/2), broadcast."""
    both_cosines, both_sines = torch.cat([cosine, cosine], dim=-1), torch.cat([-sine, sine], dim=-1)  # (…, T, hs)
    return x * both_cosines + x.roll(x.shape[-1] // 2, dims=-1) * both_sines


def attend(
    q: Tensor, k: Tensor, v: Tensor, dropout_rate: float, window: int | None = None, visible: Tensor | None = None
) -> Tensor:
    """Softmax attention of queries (B, nh, T, hs) to keys and values (B, nh, S, hs) → (B, nh, T, hs).

    dropout_rate: of the attention weights; who sees whom: as in `attention_weights`.

    On a CPU this is written out: batched products and a softmax take less than half the time of torch's fused
    bfloat16 backward at these lengths (measured with torch 2.13). Where the machine has a compiler, `attend_varlen`
    does whole sequences in half of that again.
    """
    if not q.is_cpu:
        if window is not None and visible is None:
            within = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
            visible = within.tril().triu(1 - window)  # (T, S): a band, in place of scores of all pairs
        return F.scaled_dot_product_attention(q, k, v, visible, dropout_rate, is_causal=visible is None)
    scores = q @ k.transpose(-2, -1)  # (B, nh, T, S)
    return attention_weights(scores, q.shape[-1] ** -0.5, dropout_rate, window, visible) @ v
