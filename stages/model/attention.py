"""Causal softmax attention: what the softmax variants share."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.dropout import dropout
from stages.model.mixer import Mixer, State
from stages.settings import Model, Section


@dataclass
class KeyValueCache(State):
    """Keys and values of the positions seen; positions past a row's length hold nothing of meaning."""

    keys: Tensor  # (B, S, nh, hs)
    values: Tensor  # (B, S, nh, hs)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys and values (B, T, nh, hs) after each row's length.

        Returns all keys and all values (B, S', nh, hs) up to the longest row, and which of them each new
        position may look at: (B, 1, T, S') bool.
        """
        B, T = keys.shape[:2]
        positions = self.lengths[:, None] + torch.arange(T, device=keys.device)  # (B, T)
        rows = torch.arange(B, device=keys.device)[:, None]  # (B, 1)
        self.keys[rows, positions] = keys
        self.values[rows, positions] = values
        self.lengths = self.lengths + T
        longest = int(self.lengths.max())
        visible = torch.arange(longest, device=keys.device) <= positions[:, None, :, None]  # (B, 1, T, S')
        return self.keys[:, :longest], self.values[:, :longest], visible


class CausalSelfAttention(Mixer):
    """softmax(QKᵀ/√hs)V over the positions up to one's own (Vaswani et al. 2017, arXiv 1706.03762)."""

    def __init__(self, model: Model, settings: Section) -> None:
        super().__init__(model, settings)
        self.heads = model.heads
        self.head_size = model.width // model.heads
        self.dropout = model.dropout
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def place(self, x: Tensor, positions: Tensor | None) -> Tensor:
        """Hook: put positions into queries or keys x (B, T, nh, hs); positions (B, T), or None for 0…T-1."""
        return x

    def forward(self, x: Tensor, state: KeyValueCache | None = None) -> Tensor:
        B, T, C = x.shape
        qkv = self.query_key_value(x).view(B, T, 3, self.heads, self.head_size)
        positions = None if state is None else state.lengths[:, None] + torch.arange(T, device=x.device)
        q, k, v = qkv.unbind(2)  # (B, T, nh, hs) each
        q, k = self.place(q, positions), self.place(k, positions)
        if state is None:
            visible = None
        else:
            k, v, visible = state.extend(k, v)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)  # (B, nh, T or S, hs)
        share_dropped = self.dropout if self.training else 0.0
        mixed = attend(q, k, v, visible, share_dropped)  # (B, nh, T, hs)
        return self.projection(mixed.transpose(1, 2).reshape(B, T, C))

    def empty_state(self, batch: int, positions: int) -> KeyValueCache:
        weight = self.projection.weight
        shape = (batch, positions, self.heads, self.head_size)
        lengths = torch.zeros(batch, dtype=torch.long, device=weight.device)
        return KeyValueCache(lengths, weight.new_zeros(shape), weight.new_zeros(shape))


def attend(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, share_dropped: float) -> Tensor:
    """Softmax attention of queries (B, nh, T, hs) to keys and values (B, nh, S, hs) → (B, nh, T, hs).

    visible: bool, broadcastable to (B, nh, T, S); None is the causal triangle (then S = T).
    share_dropped: share of the attention weights dropped.

    On a CPU this is written out: batched products and a softmax take less than half the time of
    the fused kernel's bfloat16 backward at these lengths (measured with torch 2.13).
    """
    if q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, visible, share_dropped, is_causal=visible is None)
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)  # (B, nh, T, S)
    if visible is None:
        T = q.shape[-2]
        hidden = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
        scores = scores + torch.zeros(T, T, dtype=q.dtype, device=q.device).masked_fill(hidden, float("-inf"))
    else:
        scores = scores.masked_fill(~visible, float("-inf"))
    weights = dropout(scores.softmax(dim=-1), share_dropped)
    return weights @ v
