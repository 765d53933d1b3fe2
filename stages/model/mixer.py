"""The contract every attention variant keeps.

Shape letters in model code: B batch, T time (characters), C width, nh heads, hs head size.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from stages.model.heads import merge_heads, split_heads
from stages.model.packing import Packing
from stages.settings import Model


@dataclass
class State(ABC):
    """What a mixer remembers of the positions it has seen; each tensor's first axis is the batch.

    Sequences may have seen different numbers of positions, so that states of prompts of different lengths join into
    one batch (`concatenate`) and generate together.
    """

    lengths: Tensor  # (B,) positions that each sequence has seen

    @classmethod
    def concatenate(cls, states: "list[Self]") -> Self:
        """Stack the sequences of several states."""
        return cls(**{field.name: torch.cat([getattr(s, field.name) for s in states]) for field in fields(cls)})

    def index_select(self, indices: Tensor) -> Self:
        """The state of some sequences. indices: (B',)."""
        return type(self)(**{field.name: getattr(self, field.name)[indices] for field in fields(self)})

    def next_positions(self, number: int) -> Tensor:
        """Where the next so many positions of each sequence stand: (B, number)."""
        return self.lengths[:, None] + torch.arange(number, device=self.lengths.device)

    @property
    def bytes_per_sequence(self) -> int:
        """Memory of one sequence's state in bytes."""
        tensors = [getattr(self, field.name) for field in fields(self)]
        return sum(tensor[0].numel() * tensor.element_size() for tensor in tensors)


class Mixer(nn.Module, ABC):
    """Mixes information over time, causally: output t depends on inputs 0…t of its sequence only.

    A variant is a file stages/mixers/<name>.py that defines a subclass `Mixer` of this class, of
    `SequenceMixer` or of another variant's, and `Settings`, its section of params.yaml, if that is not empty.
    """

    needs_positions: ClassVar[bool]  # whether the model adds learned positions to its embeddings

    @abstractmethod
    def __init__(self, model: Model, settings: Any, layer: int) -> None:
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
        """The rate of dropout of attention weights: 0 but in training."""
        return self.dropout if self.training else 0.0

    @abstractmethod
    def forward(self, x: Tensor, packing: Packing, state: Any = None) -> Tensor:
        """x (N, C) → (N, C): the characters of a batch, sequence after sequence.

        With a state the packing is full, of one part, and x continues each sequence after the positions the state has
        seen; the state then includes x. The outputs are those that the full form gives at the same positions.
        """

    @abstractmethod
    def empty_state(self, batch: int, positions: int) -> State:
        """A state of `batch` sequences that have seen nothing yet, with room for `positions` positions."""


class SequenceMixer(Mixer):
    """A mixer written for one batch of sequences (B, T, C) at a time."""

    @abstractmethod
    def mix(self, x: Tensor, state: Any = None) -> Tensor:
        """x (B, T, C), zeros past the end of a sequence → (B, T, C), of which nothing there counts.

        The state is as in `Mixer.forward`.
        """

    def forward(self, x: Tensor, packing: Packing, state: Any = None) -> Tensor:
        if packing.are_full:  # rectangles already
            parts = zip(x.split(packing.sizes), packing.parts, strict=True)
            return torch.cat([self.mix(each.view(*part.shape, -1), state).flatten(0, 1) for each, part in parts])
        mixed = [self.mix(part[:, 0], state)[:, None] for (part,) in split_heads(x, packing, heads=1, kinds=1)]
        return merge_heads(mixed, packing)
