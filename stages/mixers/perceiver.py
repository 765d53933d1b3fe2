"""`perceiver`: blocks over a few latents instead of all characters, in the course's causal version.

Jaegle et al. 2021, "Perceiver: General Perception with Iterative Attention", https://arxiv.org/abs/2103.03206
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.attention import CausalSelfAttention, attend
from stages.model.backbone import Backbone as BaseTrunk
from stages.model.cache import KeyValueCache
from stages.model.cpu.fused import embed_positions, layer_norm, merge_heads, split_heads
from stages.model.cpu.varlen_attention import attend_varlen, serves
from stages.model.mixer import State
from stages.model.packing import Packing
from stages.settings import Count, Model, Section

KeysValues = tuple[Tensor, Tensor]  # (B, nh, S, hs) each, of one part


class Settings(Section):
    """Section variants.perceiver."""

    bottleneck: Count  # m: latents
    residual: bool  # whether the last block adds the backbone's input to what it reads from the latents


@dataclass
class FirstPositions(KeyValueCache):
    """Keys and values of the first positions, as many as it has places; `lengths` counts all positions seen."""

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As its parent's; what no longer fits is left out."""
        positions = self.lengths[:, None] + torch.arange(keys.shape[2], device=keys.device)  # (B, T)
        row, new = (positions < self.places).nonzero(as_tuple=True)
        self.keys[row, :, positions[row, new]] = keys[row, :, new]
        self.values[row, :, positions[row, new]] = values[row, :, new]
        self.lengths = self.lengths + keys.shape[2]
        return self.seen_from(positions)

    def seen_from(self, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All keys and all values (B, nh, S', hs), and which of them positions (B, T) may look at (B, 1, T, S')."""
        filled = min(int(self.lengths.max()), self.places)
        visible = torch.arange(filled, device=positions.device) <= positions[:, None, :, None]
        return self.keys[:, :, :filled], self.values[:, :, :filled], visible

    @property
    def places(self) -> int:
        """Most positions it remembers."""
        return self.keys.shape[2]


class Mixer(CausalSelfAttention):
    """An ordinary block's attention, in halves: the first and the last block ask one sequence about another."""

    needs_positions: ClassVar[bool] = True

    def keys_values(self, x: Tensor) -> Tensor:
        """Keys and values of a sequence x (N, C), for `ask`: (N, 2C)."""
        joined = self.query_key_value
        return F.linear(x, joined.weight[len(self.projection.weight) :], joined.bias[len(self.projection.weight) :])

    def divide(self, keys_values: Tensor, rows: Packing) -> list[KeysValues]:
        """Keys and values of each part, from (N, 2C)."""
        parts = split_heads(keys_values, rows, 2 * self.heads, kinds=1)  # (B, 2·nh, T, hs)
        return [(kv[:, : self.heads], kv[:, self.heads :]) for (kv,) in parts]

    def ask(self, x: Tensor, rows: Packing, keys_values: Tensor, keys: Packing) -> Tensor:
        """What x (N, C) reads in another sequence's keys and values (M, 2C): query t from keys s ≤ t."""
        queries = self._queries(x)
        if serves(queries, self.head_size):
            heads = self.heads, self.heads
            return self.projection(attend_varlen(queries, keys_values, rows, keys, heads, self.share_dropped))
        return self._ask(queries, rows, self.divide(keys_values, keys))

    def ask_cached(self, x: Tensor, rows: Packing, asked: KeysValues, visible: Tensor) -> Tensor:
        """What x (N, C) reads in the `visible` ones of the keys and values of a state."""
        return self._ask(self._queries(x), rows, [asked], visible)

    def _ask(
        self, queries: Tensor, rows: Packing, asked: Sequence[KeysValues], visible: Tensor | None = None
    ) -> Tensor:
        parts = zip(split_heads(queries, rows, self.heads, kinds=1), asked, strict=True)
        mixed = [attend(q, k, v, self.share_dropped, None, visible) for (q,), (k, v) in parts]
        return self.projection(merge_heads(mixed, rows))

    def _queries(self, x: Tensor) -> Tensor:
        joined, width = self.query_key_value, len(self.projection.weight)
        return F.linear(x, joined.weight[:width], joined.bias[:width])  # (N, C)


class Backbone(BaseTrunk):
    """Blocks over m latents instead of T characters.

    ::

        x (T characters) ──────────────────────────────────────────┐
            │ keys, values                                         │ queries, + x
        first block: latent i reads inputs ≤ i ── blocks ── last block: output t reads latents ≤ t
            │ queries, + C                     over latents
        C (m learned vectors)

        first block: z = C + softmax(Q(C)K(x)ᵀ/√hs)V(x)
        last block:  y = x + softmax(Q(x)K(z)ᵀ/√hs)V(z), with z as the blocks between leave it

    Both masks are the lower triangle, so information is lost: output t < m knows the inputs up to its own, output
    t ≥ m the first m and its own only, whatever stands between. Without the residual (+ x) the latter reaches its
    output through the attention weights alone. Latents that no output may see are not computed, but for a few that make
    their number a round one.

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
        self,
        x: Tensor,
        rows: Packing,
        states: Sequence[Any] | None = None,
        loss_indices: Tensor | None = None,
    ) -> Tensor:
        if states is not None:
            return self._continue(x, rows, states, loss_indices)
        backbone: list[Any] = list(self)
        down, *between, up = backbone
        few = rows.first(len(self.latents)).rounded()  # of each row min(m, T) characters, and some that none looks at
        latents = embed_positions(self.latents, few)  # (M, C), and so on: M as a sum over rows
        y = down.mixer.ask(_normal(down, latents), few, down.mixer.keys_values(first_characters(x, rows, few)), few)
        y = down.add(latents, y)
        for block in between:
            y = block(y, few)
        return self._up(x, up.mixer.ask(x, rows, up.mixer.keys_values(_normal(up, y)), few), loss_indices)

    def _up(self, x: Tensor, read: Tensor, loss_indices: Tensor | None) -> Tensor:
        """The end of the last block: x (N, C), and what it has read in the latents."""
        up: Any = self[-1]
        return up.add(x if self.residual else torch.zeros_like(x), read, loss_indices)

    def _continue(self, x: Tensor, rows: Packing, states: Sequence[Any], loss_indices: Tensor | None) -> Tensor:
        """x (B·T, C) after the positions seen: the latents they make, if there is room, then their outputs."""
        (part,) = rows.parts
        B, T = part.shape
        backbone: list[Any] = list(self)
        down, *blocks, up = backbone
        first, *between, last = states
        seen = first.lengths  # (B,)
        positions = seen[:, None] + torch.arange(T, device=x.device)  # (B, T)
        M = int((first.places - seen).clamp(0, T).max())  # as many as the row has that needs most; no more are kept
        if M:
            few = Packing.full((B, M))
            latents = self.latents[positions[:, :M].clamp(max=len(self.latents) - 1)].flatten(0, 1)  # (B·M, C)
            inputs = x.view(B, T, -1)[:, :M].flatten(0, 1)  # (B·M, C)
            ((k, v),) = down.mixer.divide(down.mixer.keys_values(inputs), few)
            k, v, visible = first.extend(k, v)
            y = down.add(latents, down.mixer.ask_cached(_normal(down, latents), few, (k, v), visible))
            for block, state in zip(blocks, between, strict=True):
                y = block(y, few, state)
            ((k, v),) = up.mixer.divide(up.mixer.keys_values(_normal(up, y)), few)
            last.extend(k, v)
        for state in states:
            state.lengths = seen + T
        k, v, visible = last.seen_from(positions)
        return self._up(x, up.mixer.ask_cached(x, rows, (k, v), visible), loss_indices)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        states: list[Any] = super().empty_states(batch, min(positions, len(self.latents)))
        return [FirstPositions(state.lengths, state.keys, state.values) for state in states]


def first_characters(x: Tensor, rows: Packing, few: Packing) -> Tensor:
    """Of x (N, C) the first characters of each row, as many as `few` has: (M, C); zeros past the end of a row."""
    if few == rows:
        return x
    parts = zip(split_heads(x, rows, heads=1, kinds=1), few.parts, strict=True)
    return merge_heads([whole[:, :, : part.width] for (whole,), part in parts], few)


def _normal(block: Any, x: Tensor) -> Tensor:
    return layer_norm(x, block.norm_mixer.weight, block.norm_mixer.bias)
