"""What a variant's file defines: a mixer, or a whole backbone of blocks.

Shape letters in model code: N characters of a batch, L those whose loss counts, B batch, T time (characters), C width,
nh heads, hs head size, V vocabulary.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.ops import LayerNorm, dropout, wide
from stages.model.packing import Packing
from stages.model.state import Hidden, State
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class Mixer(nn.Module, ABC):
    """Mixes information over time, causally: output t depends on inputs 0…t of its sequence only.

    `mix` is the idea, as its paper has it. `packed` is an optional fast form of it.
    """

    needs_positions: ClassVar[bool]  # whether the model adds learned positions to its embeddings
    by_position: ClassVar[Mapping[str, tuple[int, ...]]] = {}  # its weights that belong to positions: along which axes

    @abstractmethod
    def __init__(self, model: ModelSettings, settings: Any, layer: int) -> None:
        """model: the recipe's shape; settings: this variant's section; layer: its block, from 0.

        Raises ValueError: the settings do not fit the shape.
        """
        super().__init__()
        self.heads = model.heads
        self.head_size = model.width // model.heads
        self.dropout = model.dropout

    def initialise(self) -> None:
        """Draw what does not start like every other weight; called when all of these are drawn."""

    @property
    def dropout_rate(self) -> float:
        """Rate of dropout of attention weights: 0 but in training."""
        return self.dropout if self.training else 0.0

    @abstractmethod
    def mix(self, x: Tensor, state: Any = None) -> Tensor:
        """x (B, T, C), zeros past the end of a sequence → (B, T, C), of which nothing there counts.

        With a state x continues each sequence after the positions that the state has seen; the state then includes x,
        but for its lengths, which `forward` counts. The outputs are those of the full form at the same positions.
        """

    @abstractmethod
    def empty_state(self, batch: int, positions: int) -> State:
        """Make a state of `batch` sequences that have seen nothing yet, with room for `positions` positions."""

    def packed(self, x: Tensor, packing: Packing) -> Tensor | None:
        """Do what `mix` does to all sequences of a batch at once: x (N, C) → (N, C); None where nothing is faster."""
        return None

    def forward(self, x: Tensor, packing: Packing, state: Any = None) -> Tensor:
        """x (N, C) → (N, C): the characters of a batch, sequence after sequence; with a state of one full part."""
        mixed = self.packed(x, packing) if state is None else None
        if mixed is None:
            mixed = packing.join(self.mix(rectangle, state) for rectangle in packing.rectangles(x))
        if state is not None:
            state.lengths = state.lengths + packing.parts[0].width
        return mixed


class RecurrentMixer(Mixer):
    """A mixer that remembers activations only. No positions: order is in the recurrence."""

    needs_positions = False
    layers: ClassVar[int] = 1

    def empty_state(self, batch: int, positions: int) -> Hidden:
        device = next(self.parameters()).device
        return Hidden(torch.zeros(batch, self.layers, self.heads * self.head_size, device=device))


def recurrence(drive: Tensor, weight: Tensor, h: Tensor) -> Tensor:
    """All h^t = tanh(drive^t + W h^{t−1}), one after another: (B, T, C).

    drive: (B, T, C) float32; weight: W (C, C) in any precision, h and the products are float32; h: (B, C), before the
    first drive.
    """
    weight = wide(weight)
    hidden = []
    for driven in drive.unbind(1):  # (B, C)
        h = torch.tanh(torch.addmm(driven, h, weight.t()))
        hidden.append(h)
    return torch.stack(hidden, dim=1)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """x (B, T, heads · hs) → (B, heads, T, hs), without a copy."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """x (B, heads, T, hs) → (B, T, heads · hs)."""
    return x.transpose(1, 2).flatten(2)


class Block(nn.Module):
    """x + mix(norm(x)), then x + mlp(norm(x)): pre-LayerNorm, GELU MLP of `expansion` times the width, or none for 0.

    All but the mixer works on characters one by one, so it takes a whole batch's at once, whatever their sequences.
    """

    def __init__(self, model: ModelSettings, mixer: Mixer, expansion: int) -> None:
        super().__init__()
        self.norm_mixer = LayerNorm(model.width)
        self.mixer = mixer
        self.dropout = model.dropout
        self.has_mlp = expansion > 0
        if self.has_mlp:
            self.norm_mlp = LayerNorm(model.width)
            self.expand = nn.Linear(model.width, expansion * model.width)
            self.contract = nn.Linear(expansion * model.width, model.width)

    def forward(self, x: Tensor, packing: Packing, state: Any = None, loss_indices: Tensor | None = None) -> Tensor:
        """x (N, C) → (N, C); packing and state are as in `Mixer.forward`.

        With `loss_indices`, indices of L characters, only those come out: (L, C).
        """
        mixed = self.mixer(self.norm_mixer(x), packing, state)  # (N, C)
        return self.add(x, mixed, loss_indices)

    def add(self, x: Tensor, mixed: Tensor, loss_indices: Tensor | None = None) -> Tensor:
        """x + mixed, then the MLP: what follows the mixer. x, mixed: (N, C); only `loss_indices` go on, or all."""
        if loss_indices is not None:  # from here on no character sees another: the rest is not needed
            x, mixed = x[loss_indices], mixed[loss_indices]
        dropout_rate = self.dropout if self.training else 0.0
        x = x + dropout(mixed, dropout_rate)
        if not self.has_mlp:
            return x
        h = F.gelu(self.expand(self.norm_mlp(x)))  # (N, expansion·C)
        return x + dropout(self.contract(h), dropout_rate)


class Backbone(nn.ModuleList):
    """layers × Block, each with a mixer of the variant.

    A variant that does not keep one vector a character all the way (the perceiver) derives a `Backbone` of its own.
    """

    needs_positions: bool

    def __init__(
        self, model: ModelSettings, settings: Section, mixer: type[Mixer], last_expansion: int | None = None
    ) -> None:
        """last_expansion: of the last block's MLP; None: as in the others."""
        expansions = [model.expansion] * model.layers
        if last_expansion is not None:
            expansions[-1] = last_expansion
        mixers = (mixer(model, settings, layer) for layer in range(model.layers))
        super().__init__(Block(model, *parts) for parts in zip(mixers, expansions, strict=True))
        self.needs_positions = mixer.needs_positions

    def forward(
        self, x: Tensor, packing: Packing, states: Sequence[State] | None = None, loss_indices: Tensor | None = None
    ) -> Tensor:
        """x (N, C) → (N, C); packing and states, one a block, are as in `Mixer.forward`.

        With `loss_indices`, indices of L characters, only those come out: (L, C).
        """
        for i, block in enumerate(self):
            is_last = i == len(self) - 1
            x = block(x, packing, None if states is None else states[i], loss_indices if is_last else None)
        return x

    def empty_states(self, batch: int, positions: int) -> list[State]:
        """States of `batch` sequences that have seen nothing yet, with room for `positions` positions."""
        mixers = [module for module in self.modules() if isinstance(module, Mixer)]
        return [mixer.empty_state(batch, positions) for mixer in mixers]
