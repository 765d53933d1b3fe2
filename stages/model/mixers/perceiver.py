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
from stages.model.cache import KeyValueCache
from stages.model.fused import layer_norm, merge_heads, split_heads
from stages.model.mixer import State
from stages.model.trunk import Trunk as BaseTrunk
from stages.settings import Count, Model, Section

Shapes = Sequence[torch.Size]  # (B, T) of a batch's parts
KeysValues = tuple[Tensor, Tensor]  # (B, nh, S, hs) each, of one part


class Settings(Section):
    """Section variants.perceiver."""

    bottleneck: Count  # m: latents
    residual: bool  # whether the last block adds the trunk's input to what it reads from the latents


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

    def keys_values(self, x: Tensor, shapes: Shapes) -> list[KeysValues]:
        """Keys and values of each part of a sequence x (N, C), for `ask`."""
        _, key, value = self._linear()
        keys, values = (split_heads(F.linear(x, *each), shapes, self.heads, kinds=1) for each in (key, value))
        return [(k, v) for (k,), (v,) in zip(keys, values, strict=True)]

    def ask(self, x: Tensor, shapes: Shapes, asked: Sequence[KeysValues], visible: Tensor | None = None) -> Tensor:
        """What x (N, C) reads in another sequence: query t from keys s ≤ t, or from the `visible` ones."""
        query, _, _ = self._linear()
        queries = split_heads(F.linear(x, *query), shapes, self.heads, kinds=1)  # (B, nh, T, hs) of each part
        share_dropped = self.dropout if self.training else 0.0
        parts = zip(queries, asked, strict=True)
        return self.projection(merge_heads([attend(q, k, v, share_dropped, None, visible) for (q,), (k, v) in parts]))

    def _linear(self) -> list[tuple[Tensor, Tensor]]:
        """Weight (C, C) and bias (C,) of queries, of keys, of values."""
        joined = self.query_key_value
        return list(zip(joined.weight.chunk(3), joined.bias.chunk(3), strict=True))


class Trunk(BaseTrunk):
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
    output through the attention weights alone. Latents that no output may see are not computed.

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
        self.latents = nn.Parameter(0.02 * torch.randn(settings.bottleneck, model.width))  # C
        self.residual = settings.residual

    def forward(
        self,
        x: Tensor,
        shapes: Sequence[torch.Size],
        states: Sequence[Any] | None = None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        if states is not None:
            (shape,) = shapes
            return self._continue(x, shape, states, wanted)
        parts = zip(x.split([shape.numel() for shape in shapes]), shapes, strict=True)
        read = [part.view(*shape, -1)[:, : len(self.latents)] for part, shape in parts]  # (B, M, C): M = min(m, T)
        few = [part.shape[:2] for part in read]
        latents = torch.cat([self.latents[:M].expand(B, -1, -1).flatten(0, 1) for B, M in few])  # (Σ B·M, C)
        inputs = torch.cat([part.flatten(0, 1) for part in read])  # (Σ B·M, C)
        y = self._down(latents, few, self._offer_inputs(inputs, few))
        for block in list(self)[1:-1]:
            y = block(y, few)
        return self._up(x, shapes, self._offer_latents(y, few), wanted=wanted)

    def _offer_inputs(self, x: Tensor, few: Shapes) -> list[KeysValues]:
        """What latents can read of the inputs x (N, C)."""
        down: Any = self[0]
        return down.mixer.keys_values(x, few)

    def _down(
        self, latents: Tensor, few: Shapes, inputs: Sequence[KeysValues], visible: Tensor | None = None
    ) -> Tensor:
        """The first block. latents: C's rows (N, C)."""
        down: Any = self[0]
        return down.add(latents, down.mixer.ask(_normal(down, latents), few, inputs, visible))

    def _offer_latents(self, y: Tensor, few: Shapes) -> list[KeysValues]:
        """What outputs can read of the finished latents y (N, C)."""
        up: Any = self[-1]
        return up.mixer.keys_values(_normal(up, y), few)

    def _up(
        self,
        x: Tensor,
        shapes: Shapes,
        latents: Sequence[KeysValues],
        visible: Tensor | None = None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """The last block. x (N, C)."""
        up: Any = self[-1]
        return up.add(x if self.residual else torch.zeros_like(x), up.mixer.ask(x, shapes, latents, visible), wanted)

    def _continue(self, x: Tensor, shape: torch.Size, states: Sequence[Any], wanted: Tensor | None) -> Tensor:
        """x (B·T, C) after the positions seen: the latents they make, if there is room, then their outputs."""
        B, T = shape
        first, *between, last = states
        seen = first.lengths  # (B,)
        positions = seen[:, None] + torch.arange(T, device=x.device)  # (B, T)
        M = int((first.places - seen).clamp(0, T).max())  # as many as the row has that needs most; no more are kept
        if M:
            few = [torch.Size([B, M])]
            latents = self.latents[positions[:, :M].clamp(max=len(self.latents) - 1)].flatten(0, 1)  # (B·M, C)
            inputs = x.view(B, T, -1)[:, :M].flatten(0, 1)  # (B·M, C)
            ((k, v),) = self._offer_inputs(inputs, few)
            k, v, visible = first.extend(k, v)
            y = self._down(latents, few, [(k, v)], visible)
            for block, state in zip(list(self)[1:-1], between, strict=True):
                y = block(y, few, state)
            ((k, v),) = self._offer_latents(y, few)
            last.extend(k, v)
        for state in states:
            state.lengths = seen + T
        k, v, visible = last.seen_from(positions)
        return self._up(x, [shape], [(k, v)], visible, wanted)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        states: list[Any] = super().empty_states(batch, min(positions, len(self.latents)))
        return [FirstPositions(state.lengths, state.keys, state.values) for state in states]


def _normal(block: Any, x: Tensor) -> Tensor:
    return layer_norm(x, block.norm_mixer.weight, block.norm_mixer.bias)
