"""The contract that every variant keeps.

Shape letters in model code: N characters of a batch, B batch, T time (characters), C width, nh heads, hs head size.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from stages.model.packing import Packing
from stages.model.state import State
from stages.settings import ModelSettings


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

        With a state x continues each sequence after the positions that the state has seen; the state then includes x.
        The outputs are those that the full form gives at the same positions.
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
        return mixed


def split_heads(x: Tensor, heads: int) -> Tensor:
    """x (B, T, heads · hs) → (B, heads, T, hs), without a copy."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """x (B, heads, T, hs) → (B, T, heads · hs)."""
    return x.transpose(1, 2).flatten(2)
