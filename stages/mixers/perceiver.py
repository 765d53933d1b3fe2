"""`perceiver`: blocks over a few latents instead of all characters, in the course's causal version.

Its plain form stands in stages/plain/model.py.
Jaegle et al. 2021, "Perceiver: General Perception with Iterative Attention", https://arxiv.org/abs/2103.03206
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.attention import CausalSelfAttention, attend, attend_packed
from stages.model.mixer import Backbone, merge_heads, split_heads
from stages.model.ops import embed_positions
from stages.model.packing import Packing
from stages.model.state import State
from stages.settings.params import ModelSettings
from stages.settings.section import Count, Section


class PerceiverSettings(Section):
    """Section variants.perceiver."""

    bottleneck: Count  # m: latents
    residual: bool  # whether the last block adds the backbone's input to what it reads from the latents
    up_expansion: Count  # width of the last block's MLP over the model's, where blocks have MLPs


class CrossAttention(CausalSelfAttention):
    """An ordinary block's attention, in halves: in the first and the last block one sequence reads another."""

    needs_positions = True

    def queries(self, x: Tensor) -> Tensor:
        """Project a sequence x (N, C) to its queries: (N, C)."""
        C = x.shape[1]
        return F.linear(x, self.query_key_value.weight[:C], self.query_key_value.bias[:C])

    def keys_values(self, x: Tensor) -> Tensor:
        """Project a sequence x (N, C) to its keys and values: (N, 2C)."""
        C = x.shape[1]
        return F.linear(x, self.query_key_value.weight[C:], self.query_key_value.bias[C:])

    def read(self, x: Tensor, packing: Packing, other: Tensor, other_packing: Packing) -> Tensor:
        """Let x (N, C) read another sequence (M, C), query t the keys s ≤ t: (N, C)."""
        tensors, packings = [self.queries(x), self.keys_values(other)], [packing, other_packing]
        return self.projection(attend_packed(tensors, packings, (self.heads, self.heads), self.dropout_rate))

    def read_cached(self, x: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> Tensor:
        """Let x (B·T, C) read the `visible` ones of a state's keys and values (B, nh, S, hs): (B·T, C)."""
        q = split_heads(self.queries(x).view(len(k), -1, x.shape[1]), self.heads)  # (B, nh, T, hs)
        mixed = attend(q, k, v, visible, self.dropout_rate)  # (B, nh, T, hs)
        return self.projection(merge_heads(mixed).flatten(0, 1))

    def by_head(self, x: Tensor, batch: int) -> tuple[Tensor, ...]:
        """Keys and values of x (B·T, C), for a state: (B, nh, T, hs) each."""
        return split_heads(self.keys_values(x).view(batch, -1, 2 * x.shape[1]), 2 * self.heads).chunk(2, dim=1)


class Perceiver(Backbone):
    """Blocks over m latents instead of T characters.

    ::

        x (T characters) ──────────────────────────────────────────┐
            │ keys, values                                         │ queries, + x
        first block: latent i reads inputs ≤ i ── blocks ── last block: output t reads latents ≤ t
            │ queries, + L                     over latents
        L (m learned vectors)

        first block: z = L + softmax(Q(L)K(x)ᵀ/√hs)V(x)
        last block:  y = x + softmax(Q(x)K(z)ᵀ/√hs)V(z), with z as the blocks between leave it

    Both masks are the lower triangle, so information is lost: output t < m knows the inputs up to its own; output
    t ≥ m knows the first m and its own, and none between. Without the residual (+ x) its own reaches it through the
    attention weights alone. Latents that no output may see are not computed, but for a few that make their number a
    round one.

    As in the course's code, LayerNorm stands before L in the first block and before the latents in the last, and x
    enters both as it is.

    State, a block: keys and values of the first m inputs, or latents, 2·C numbers each and none for later positions.
    """

    def __init__(self, model: ModelSettings, settings: PerceiverSettings) -> None:
        if model.layers < 2:
            raise ValueError(f"its first and its last block are two, model.layers is {model.layers}")
        if settings.bottleneck > model.context:
            raise ValueError(f"bottleneck {settings.bottleneck} exceeds model.context {model.context}")
        up_expansion = settings.up_expansion if model.expansion else 0
        super().__init__(model, settings, CrossAttention, up_expansion)
        latents = torch.empty(1, settings.bottleneck, model.width)  # three dimensions, as the course's, set its scale
        self.latents = nn.Parameter(nn.init.xavier_uniform_(latents)[0])
        self.residual = settings.residual

    def forward(
        self, x: Tensor, packing: Packing, states: Sequence[Any] | None = None, loss_indices: Tensor | None = None
    ) -> Tensor:
        blocks: list[Any] = list(self)
        first, *inner, last = blocks
        if states is not None:
            read = self._read_cached(x, packing.parts[0].shape, states)
        else:
            few = packing.first(len(self.latents)).rounded()  # min(m, T) characters of each sequence, and a few unseen
            latents = embed_positions(self.latents, few)  # (M, C): M is summed over sequences
            inputs = first_characters(x, packing, few)  # (M, C)
            z = first.add(latents, first.mixer.read(first.norm_mixer(latents), few, inputs, few))
            for block in inner:
                z = block(z, few)
            read = last.mixer.read(x, packing, last.norm_mixer(z), few)
        return last.add(x if self.residual else torch.zeros_like(x), read, loss_indices)

    def _read_cached(self, x: Tensor, shape: tuple[int, int], states: Sequence[Any]) -> Tensor:
        """Make latents of x (B·T, C) where there is room, then let x read all that are made: (B·T, C)."""
        B, T = shape
        blocks: list[Any] = list(self)
        first, *inner, last = blocks
        first_state, *inner_states, last_state = states
        seen, positions = first_state.lengths, first_state.next_positions(T)  # (B,), (B, T)
        made = int((first_state.room - seen).clamp(0, T).max())  # latents of the neediest sequence; no more are kept

        if made:
            inputs = x.view(B, T, -1)[:, :made].flatten(0, 1)  # (B·made, C)
            latents = self.latents[positions[:, :made].clamp(max=len(self.latents) - 1)].flatten(0, 1)  # (B·made, C)
            seen_inputs = first_state.extend(*first.mixer.by_head(inputs, B))
            z = first.add(latents, first.mixer.read_cached(first.norm_mixer(latents), *seen_inputs))
            for block, state in zip(inner, inner_states, strict=True):
                z = block(z, Packing.full((B, made)), state)
            last_state.extend(*last.mixer.by_head(last.norm_mixer(z), B))

        for state in states:
            state.lengths = seen + T
        return last.mixer.read_cached(x, *last_state.seen_from(positions))

    def empty_states(self, batch: int, positions: int) -> list[State]:
        return super().empty_states(batch, min(positions, len(self.latents)))


def first_characters(x: Tensor, packing: Packing, few: Packing) -> Tensor:
    """Take each sequence's first characters of x (N, C), as many as `few` has: (M, C); zeros past a sequence's end."""
    if few == packing:
        return x
    rectangles = zip(packing.rectangles(x), few.parts, strict=True)
    return few.join(rectangle[:, : part.width] for rectangle, part in rectangles)
