"""`perceiver`: blocks over a few latents instead of all characters, in the course's causal version.

Jaegle et al. 2021, "Perceiver: General Perception with Iterative Attention", https://arxiv.org/abs/2103.03206
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.attention import CausalSelfAttention, attend
from stages.model.backbone import Backbone as BaseBackbone
from stages.model.cpu.varlen_attention import attend_varlen, serves
from stages.model.heads import merge_heads, split_heads
from stages.model.mixer import State
from stages.model.ops import embed_positions, layer_norm
from stages.model.packing import Packing
from stages.settings import Count, Model, Section


class Settings(Section):
    """Section variants.perceiver."""

    bottleneck: Count  # m: latents
    residual: bool  # whether the last block adds the backbone's input to what it reads from the latents


class Mixer(CausalSelfAttention):
    """An ordinary block's attention, in halves: in the first and the last block one sequence reads another."""

    needs_positions: ClassVar[bool] = True

    def keys_values(self, x: Tensor) -> Tensor:
        """Keys and values of a sequence x (N, C), for `read`: (N, 2C)."""
        joined = self.query_key_value
        return F.linear(x, joined.weight[len(self.projection.weight) :], joined.bias[len(self.projection.weight) :])

    def read(self, x: Tensor, packing: Packing, keys_values: Tensor, key_packing: Packing) -> Tensor:
        """What x (N, C) reads in another sequence's keys and values (M, 2C): query t from keys s ≤ t."""
        queries = self._queries(x)
        if serves(queries, self.head_size):
            heads = self.heads, self.heads
            return self.projection(attend_varlen(queries, keys_values, packing, key_packing, heads, self.dropout_rate))
        parts = split_heads(queries, packing, self.heads, kinds=1), self.divide(keys_values, key_packing)
        mixed = [attend(q, k, v, self.dropout_rate) for (q,), (k, v) in zip(*parts, strict=True)]
        return self.projection(merge_heads(mixed, packing))

    def read_cached(self, x: Tensor, packing: Packing, k: Tensor, v: Tensor, visible: Tensor) -> Tensor:
        """What x (N, C) reads in the `visible` ones of a state's keys and values (B, nh, S, hs)."""
        ((q,),) = split_heads(self._queries(x), packing, self.heads, kinds=1)
        return self.projection(merge_heads([attend(q, k, v, self.dropout_rate, None, visible)], packing))

    def divide(self, keys_values: Tensor, packing: Packing) -> list[tuple[Tensor, ...]]:
        """Keys and values of each part (B, nh, T, hs), from (N, 2C)."""
        return [kv.chunk(2, dim=1) for (kv,) in split_heads(keys_values, packing, 2 * self.heads, kinds=1)]

    def _queries(self, x: Tensor) -> Tensor:
        joined, width = self.query_key_value, len(self.projection.weight)
        return F.linear(x, joined.weight[:width], joined.bias[:width])  # (N, C)


class Backbone(BaseBackbone):
    """Blocks over m latents instead of T characters.

    ::

        x (T characters) ──────────────────────────────────────────┐
            │ keys, values                                         │ queries, + x
        first block: latent i reads inputs ≤ i ── blocks ── last block: output t reads latents ≤ t
            │ queries, + C                     over latents
        C (m learned vectors)

        first block: z = C + softmax(Q(C)K(x)ᵀ/√hs)V(x)
        last block:  y = x + softmax(Q(x)K(z)ᵀ/√hs)V(z), with z as the blocks between leave it

    Both masks are the lower triangle, so information is lost: output t < m knows the inputs up to its own; output
    t ≥ m knows the first m and its own, and none between. Without the residual (+ x) its own reaches it through the
    attention weights alone. Latents that no output may see are not computed, but for a few that make their number a
    round one.

    As in the course's code, LayerNorm stands before C in the first block and before the latents in the last, and x
    enters both as it is.

    State, a block: keys and values of the first m inputs, or latents, 2·C numbers each and none for later positions.
    """

    def __init__(self, model: Model, settings: Settings) -> None:
        if model.layers < 2:
            raise ValueError(f"its first and its last block are two, model.layers is {model.layers}")
        if settings.bottleneck > model.context:
            raise ValueError(f"bottleneck {settings.bottleneck} exceeds model.context {model.context}")
        super().__init__(model, settings, Mixer)
        # of three dimensions, as the course's: that decides its scale
        C = torch.empty(1, settings.bottleneck, model.width)
        self.latents = nn.Parameter(nn.init.xavier_uniform_(C)[0])
        self.residual = settings.residual

    def forward(
        self, x: Tensor, packing: Packing, states: Sequence[Any] | None = None, loss_indices: Tensor | None = None
    ) -> Tensor:
        if states is not None:
            return self._continue(x, packing, states, loss_indices)
        backbone: list[Any] = list(self)
        down, *between, up = backbone
        few = packing.first(len(self.latents)).rounded()  # min(m, T) characters of each sequence, and a few unseen
        latents = embed_positions(self.latents, few)  # (M, C): M is summed over sequences
        y = down.mixer.read(_normal(down, latents), few, down.mixer.keys_values(first_characters(x, packing, few)), few)
        y = down.add(latents, y)
        for block in between:
            y = block(y, few)
        return self._up(x, up.mixer.read(x, packing, up.mixer.keys_values(_normal(up, y)), few), loss_indices)

    def _up(self, x: Tensor, read: Tensor, loss_indices: Tensor | None) -> Tensor:
        """The end of the last block: x (N, C), and what it has read in the latents."""
        up: Any = self[-1]
        return up.add(x if self.residual else torch.zeros_like(x), read, loss_indices)

    def _continue(self, x: Tensor, packing: Packing, states: Sequence[Any], loss_indices: Tensor | None) -> Tensor:
        """x (B·T, C) after the positions seen: the latents they make, if there is room, then their outputs."""
        (part,) = packing.parts
        B, T = part.shape
        backbone: list[Any] = list(self)
        down, *blocks, up = backbone
        first, *between, last = states
        seen, positions = first.lengths, first.next_positions(T)  # (B,), (B, T)
        M = int((first.room - seen).clamp(0, T).max())  # what the neediest sequence makes; no more are kept
        if M:
            few = Packing.full((B, M))
            latents = self.latents[positions[:, :M].clamp(max=len(self.latents) - 1)].flatten(0, 1)  # (B·M, C)
            inputs = x.view(B, T, -1)[:, :M].flatten(0, 1)  # (B·M, C)
            ((k, v),) = down.mixer.divide(down.mixer.keys_values(inputs), few)
            seen_inputs = first.extend(k, v)
            y = down.add(latents, down.mixer.read_cached(_normal(down, latents), few, *seen_inputs))
            for block, state in zip(blocks, between, strict=True):
                y = block(y, few, state)
            ((k, v),) = up.mixer.divide(up.mixer.keys_values(_normal(up, y)), few)
            last.extend(k, v)
        for state in states:
            state.lengths = seen + T
        return self._up(x, up.mixer.read_cached(x, packing, *last.seen_from(positions)), loss_indices)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        return super().empty_states(batch, min(positions, len(self.latents)))


def first_characters(x: Tensor, packing: Packing, few: Packing) -> Tensor:
    """The first characters of each sequence of x (N, C), as many as `few` has: (M, C); zeros past a sequence's end."""
    if few == packing:
        return x
    parts = zip(split_heads(x, packing, heads=1, kinds=1), few.parts, strict=True)
    return merge_heads([whole[:, :, : part.width] for (whole,), part in parts], few)


def _normal(block: Any, x: Tensor) -> Tensor:
    return layer_norm(x, block.norm_mixer.weight, block.norm_mixer.bias)
