"""The contract every attention variant keeps.

Shape letters in model code: B batch, T time (characters), C width, nh heads, hs head size.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from stages.settings import Model, Section


@dataclass
class State(ABC):
    """What a mixer remembers of the positions it has seen; each tensor's first axis is the batch.

    Rows may have seen different numbers of positions, so states of groups of questions of
    different lengths join into one batch (`concatenate`) and generate together.
    """

    lengths: Tensor  # (B,) positions seen, by row

    @classmethod
    def concatenate(cls, states: "list[Self]") -> Self:
        """Stack the rows of several states."""
        return cls(**{field.name: torch.cat([getattr(s, field.name) for s in states]) for field in fields(cls)})

    def keep(self, rows: Tensor) -> Self:
        """The state of some rows. rows: (R,) indices."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    @property
    def bytes_per_row(self) -> int:
        """Memory of one row's state in bytes."""
        tensors = [getattr(self, field.name) for field in fields(self)]
        return sum(tensor[0].numel() * tensor.element_size() for tensor in tensors)


class Mixer(nn.Module, ABC):
    """Mixes information over time: (B, T, C) → (B, T, C), causally.

    Output t depends on inputs 0…t only. A variant is a file stages/model/mixers/<name>.py that defines
    a subclass `Mixer` and its section of params.yaml, `Settings`.
    """

    needs_positions: ClassVar[bool]  # whether the model adds learned positions to its embeddings

    @abstractmethod
    def __init__(self, model: Model, settings: Any) -> None:
        """model: the recipe's shape; settings: this variant's section."""
        super().__init__()

    @abstractmethod
    def forward(self, x: Tensor, state: Any = None) -> Tensor:
        """Mix x (B, T, C) over time.

        With a state, x continues each row after the positions the state has seen, and the state then
        includes x: the outputs are those that the full form gives at the same positions.
        """

    @abstractmethod
    def empty_state(self, batch: int, positions: int) -> State:
        """A state of `batch` rows that have seen nothing yet, with room for `positions` positions."""


class NoSettings(Section):
    """The section of a variant without settings of its own."""
