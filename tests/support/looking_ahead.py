"""Mixers that are not causal, each in its own way: what the tests of causality have to catch."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.mixers.vanilla import Mixer as Vanilla
from stages.model.heads import merge_heads, split_heads
from stages.model.packing import Packing
from stages.settings import Model, Section


class Unmasked(Vanilla):
    """Attention to every position, later ones too."""

    def forward(self, x: Tensor, packing: Packing, state: object = None) -> Tensor:
        ((q, k, v),) = split_heads(self.query_key_value(x), packing, self.heads)
        return self.projection(merge_heads([F.scaled_dot_product_attention(q, k, v)], packing))


class OneAhead(Vanilla):
    """Causal attention, moved by one: each output sees the input after its own."""

    def forward(self, x: Tensor, packing: Packing, state: object = None) -> Tensor:
        (part,) = packing.parts
        return super().forward(x, packing).view(*part.shape, -1).roll(-1, dims=1).flatten(0, 1)


class Linformer(Vanilla):
    """softmax(Q(EK)ᵀ/√hs)EV with a learned E (k, T), one for keys and values (Wang et al. 2020, arXiv 2006.04768).

    Query t is kept from the columns after the t-th, in vain: E has mixed later positions into every column before.
    """

    columns = 8  # k

    def __init__(self, model: Model, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.over_time = nn.Linear(model.context, self.columns, bias=False)  # its weight is E

    def forward(self, x: Tensor, packing: Packing, state: object = None) -> Tensor:
        ((q, k, v),) = split_heads(self.query_key_value(x), packing, self.heads)  # (B, nh, T, hs)
        T = q.shape[2]
        k, v = (self.over_time.weight[:, :T] @ each for each in (k, v))  # (B, nh, k, hs)
        unseen = torch.ones(T, self.columns, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(2, 3) / self.head_size**0.5).masked_fill(unseen, -math.inf)  # (B, nh, T, k)
        return self.projection(merge_heads([scores.softmax(dim=-1) @ v], packing))
