"""What mixers remember of the positions they have seen, while a model generates."""

from dataclasses import dataclass, field, fields
from typing import Self

import torch
from torch import Tensor


@dataclass
class State:
    """What a mixer remembers of the positions it has seen; each tensor's first axis is the batch.

    Sequences may have seen different numbers of positions, so that states of prompts of different lengths join into
    one batch (`concatenate`) and generate together.
    """

    lengths: Tensor = field(init=False)  # (B,) int64: positions that each sequence has seen, none at first

    def __post_init__(self) -> None:
        first = self.tensors[0]
        self.lengths = torch.zeros(len(first), dtype=torch.long, device=first.device)

    @classmethod
    def concatenate(cls, states: "list[Self]") -> Self:
        """Stack the sequences of several states."""
        whole = cls(*map(torch.cat, zip(*(state.tensors for state in states), strict=True)))
        whole.lengths = torch.cat([state.lengths for state in states])
        return whole

    def index_select(self, indices: Tensor) -> Self:
        """Select the state of some sequences. indices: (B',)."""
        selected = type(self)(*(tensor[indices] for tensor in self.tensors))
        selected.lengths = self.lengths[indices]
        return selected

    def next_positions(self, number: int) -> Tensor:
        """Where the next so many positions of each sequence stand: (B, number)."""
        return self.lengths[:, None] + torch.arange(number, device=self.lengths.device)

    @property
    def tensors(self) -> list[Tensor]:
        """All that it remembers beside `lengths`."""
        return [getattr(self, kept.name) for kept in fields(self) if kept.init]


@dataclass
class Hidden(State):
    """The last activation of each of a mixer's layers."""

    h: Tensor  # (B, layers, C) float32


@dataclass
class Cache(State):
    """A vector for each head and position, as many positions as there is room for, in tensors (B, nh, room, hs)."""

    def extend(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Append vectors (B, nh, T, hs) after each sequence's length; what no longer fits is left out.

        Returns what the new positions may look at, as `seen_from` does.
        """
        T = vectors[0].shape[2]
        positions = self.next_positions(T)  # (B, T)
        sequence, new = (positions < self.room).nonzero(as_tuple=True)
        for kept, added in zip(self.tensors, vectors, strict=True):
            kept[sequence, :, positions[sequence, new]] = added[sequence, :, new]
        return self.seen_from(positions)

    def seen_from(self, positions: Tensor) -> tuple[Tensor, ...]:
        """Vectors (B, nh, S, hs) of each kind, and which of them positions (B, T) may look at: (B, 1, T, S) bool."""
        filled = min(int(positions.max()) + 1, self.room)
        visible = torch.arange(filled, device=positions.device) <= positions[:, None, :, None]
        return *(kept[:, :, :filled] for kept in self.tensors), visible

    @property
    def room(self) -> int:
        """Most positions it remembers."""
        return self.tensors[0].shape[2]


@dataclass
class KeyValueCache(Cache):
    """Keys and values of the positions seen."""

    keys: Tensor  # (B, nh, room, hs)
    values: Tensor  # (B, nh, room, hs)


@dataclass
class ValueCache(Cache):
    """Values of the positions seen, for attention that compares no keys."""

    values: Tensor  # (B, nh, room, hs)


@dataclass
class WindowCache(KeyValueCache):
    """Keys and values of the last w-1 positions, oldest first; a sequence that has seen fewer has them at the end.

    A sequence that gets fewer than w-1 positions in all has room for only so many.
    """

    def extend(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Append keys and values (B, nh, T, hs), keep the last w-1.

        Returns the keys and values before and with the new ones (B, nh, w-1+T, hs), and which of them each new
        position may look at: (B, 1, T, w-1+T) bool.
        """
        T = vectors[0].shape[2]
        keys, values = (torch.cat(pair, dim=2) for pair in zip(self.tensors, vectors, strict=True))
        slot = torch.arange(self.room + T, device=keys.device)
        distance = slot[self.room :, None] - slot  # (T, w-1+T)
        empty = self.room - self.lengths  # (B,) slots that hold nothing; none if negative
        visible = (distance >= 0) & (distance <= self.room) & (slot >= empty[:, None, None, None])  # (B, 1, T, w-1+T)
        self.keys, self.values = keys[:, :, T:].contiguous(), values[:, :, T:].contiguous()
        return keys, values, visible
