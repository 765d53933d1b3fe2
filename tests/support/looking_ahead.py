"""Mixers that are not causal, each in its own way: what the tests of causality have to catch."""

import math

import torch
from torch import Tensor, nn

from stages.mixers.vanilla import Vanilla
from stages.model.attention import attend
from stages.model.mixer import merge_heads, split_heads
from stages.model.packing import Packing
from stages.settings import Model, Section


class Ahead(Vanilla):
    """A mixer that is what `mix` says, and nothing faster."""

    def packed(self, x: Tensor, packing: Packing) -> None:
        return None

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, ...]:
        """Queries, keys and values (B, nh, T, hs) of x (B, T, C)."""
        return split_heads(self.query_key_value(x), 3 * self.heads).chunk(3, dim=1)


class Unmasked(Ahead):
    """Attention to every position, later ones too."""

    def mix(self, x: Tensor, state: object = None) -> Tensor:
        q, k, v = self.queries_keys_values(x)
        visible = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)
        return self.projection(merge_heads(attend(q, k, v, visible, 0.0)))


class OneAhead(Ahead):
    """Causal attention, moved by one: each output sees the input after its own."""

    def mix(self, x: Tensor, state: object = None) -> Tensor:
        return super().mix(x).roll(-1, dims=1)


class Linformer(Ahead):
    """softmax(Q(EK)ᵀ/√hs)EV with a learned E (k, T), one for keys and values (Wang et al. 2020, arXiv 2006.04768).

    Query t is kept from the columns after the t-th, in vain: E has mixed later positions into every column before.
    """

    columns = 8  # k

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.over_time = nn.Linear(model.context, self.columns, bias=False)  # its weight is E

    def mix(self, x: Tensor, state: object = None) -> Tensor:
        q, k, v = self.queries_keys_values(x)
        E = self.over_time.weight[:, : q.shape[2]]  # (k, T)
        unseen = torch.ones(q.shape[2], self.columns, dtype=torch.bool).triu(1)
        scores = (q @ (E @ k).transpose(2, 3) / self.head_size**0.5).masked_fill(unseen, -math.inf)  # (B, nh, T, k)
        return self.projection(merge_heads(scores.softmax(dim=-1) @ (E @ v)))
