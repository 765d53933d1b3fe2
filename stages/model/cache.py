"""What softmax attention remembers of the positions it has seen."""

from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from stages.model.mixer import State


@dataclass
class Cache(State):
    """A vector a head of each position seen, in tensors (B, nh, S, hs)."""

    @classmethod
    def empty(cls, batch: int, heads: int, room: int, head_size: int, like: Tensor) -> Self:
        """The cache of sequences that have seen nothing yet, S = room, of the type and on the device of `like`."""
        lengths = torch.zeros(batch, dtype=torch.long, device=like.device)
        return cls(lengths, *(like.new_zeros(batch, heads, room, head_size) for _ in fields(cls)[1:]))

    def _append(self, **vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Write vectors (B, nh, T, hs) after each sequence's length; what lies past the length means nothing.

        Returns the new positions (B, T), and which of the S' positions up to the longest sequence's end each may
        look at: (B, 1, T, S') bool.
        """
        B, _, T, _ = next(iter(vectors.values())).shape
        device = self.lengths.device
        positions = self.lengths[:, None] + torch.arange(T, device=device)  # (B, T)
        sequences = torch.arange(B, device=device)[:, None]  # (B, 1)
        for name, new in vectors.items():
            getattr(self, name)[sequences, :, positions] = new.transpose(1, 2)
        self.lengths = self.lengths + T
        longest = int(self.lengths.max())
        return positions, torch.arange(longest, device=device) <= positions[:, None, :, None]


@dataclass
class KeyValueCache(Cache):
    """Keys and values of the positions seen."""

    keys: Tensor  # (B, nh, S, hs)
    values: Tensor  # (B, nh, S, hs)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys and values (B, nh, T, hs) after each sequence's length.

        Returns all keys and all values (B, nh, S', hs) up to the longest sequence, and which of them each new
        position may look at: (B, 1, T, S') bool.
        """
        _, visible = self._append(keys=keys, values=values)
        longest = visible.shape[-1]
        return self.keys[:, :, :longest], self.values[:, :, :longest], visible


@dataclass
class ValueCache(Cache):
    """Values of the positions seen, for attention that compares no keys."""

    values: Tensor  # (B, nh, S, hs)

    def extend(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append values (B, nh, T, hs) after each sequence's length.

        Returns all values (B, nh, S', hs) up to the longest sequence, the positions of the new ones (B, T), and
        which values each of them may look at: (B, 1, T, S') bool.
        """
        positions, visible = self._append(values=values)
        return self.values[:, :, : visible.shape[-1]], positions, visible


@dataclass
class WindowCache(Cache):
    """Keys and values of the last w-1 positions, oldest first; a sequence that has seen fewer has them at the end.

    A sequence that gets fewer than w-1 positions in all has room for only so many.
    """

    keys: Tensor  # (B, nh, w-1, hs)
    values: Tensor  # (B, nh, w-1, hs)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys and values (B, nh, T, hs), keep the last w-1.

        Returns the keys and values before and with the new ones (B, nh, w-1+T, hs), and which of them each new
        position may look at: (B, 1, T, w-1+T) bool.
        """
        before, T = self.keys.shape[2], keys.shape[2]
        keys, values = torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2)
        slot = torch.arange(before + T, device=keys.device)
        distance = slot[before:, None] - slot  # (T, w-1+T)
        empty = before - self.lengths  # (B,) slots that hold nothing; none if negative
        visible = (distance >= 0) & (distance <= before) & (slot >= empty[:, None, None, None])  # (B, 1, T, w-1+T)
        self.keys, self.values = keys[:, :, T:].contiguous(), values[:, :, T:].contiguous()
        self.lengths = self.lengths + T
        return keys, values, visible
