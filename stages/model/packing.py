"""How the sequences of a batch lie one after the other in one tensor, without PAD."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

CHARACTER_STEP = 128  # the number of characters computed is a multiple of this: kernels are prepared for each number


@dataclass(frozen=True)
class Part:
    """Sequences that stand together in one rectangle (B, T) where a mixer needs one."""

    lengths: tuple[int, ...]  # (B,) characters of each sequence, at most T
    width: int  # T

    @property
    def shape(self) -> tuple[int, int]:
        """(B, T)."""
        return len(self.lengths), self.width

    @property
    def is_full(self) -> bool:
        """Whether every sequence is as long as the rectangle is wide."""
        return min(self.lengths) == self.width

    def filled(self) -> Tensor:
        """Which elements of the rectangle hold a character: (B, T) bool, on the CPU."""
        return torch.arange(self.width) < torch.tensor(self.lengths)[:, None]

    @cached_property
    def slots(self) -> Tensor:
        """The place of each character in the flat rectangle: (characters,) int64, on the CPU."""
        return self.filled().flatten().nonzero()[:, 0]


@dataclass(frozen=True)
class Packing:
    """Which of the N characters of a tensor (N, C) belong to which sequence: sequence after sequence, without PAD.

    Whatever works on characters one by one goes over (N, C). What mixes them over time takes the rectangles of the
    parts (`rectangles`, `join`), or finds the sequences by their `extents`.
    """

    parts: tuple[Part, ...]

    @classmethod
    def full(cls, *shapes: Sequence[int]) -> Self:
        """Pack the sequences of full rectangles (B, T), one rectangle after the other."""
        return cls(tuple(Part((T,) * B, T) for B, T in shapes))

    def first(self, characters: int) -> Self:
        """Keep the sequences' first characters."""
        parts = []
        for part in self.parts:
            lengths = tuple(min(length, characters) for length in part.lengths)
            parts.append(Part(lengths, min(part.width, characters)))
        return type(self)(tuple(parts))

    def rounded(self) -> Self:
        """Lengthen the first sequences to make all characters a multiple of CHARACTER_STEP, as far as there is room."""
        missing = -sum(sum(part.lengths) for part in self.parts) % CHARACTER_STEP
        parts = []
        for part in self.parts:
            lengths = []
            for length in part.lengths:
                added = min(missing, part.width - length)
                lengths.append(length + added)
                missing -= added
            parts.append(Part(tuple(lengths), part.width))
        return type(self)(tuple(parts))

    def rectangles(self, x: Tensor) -> list[Tensor]:
        """x (N, C) → (B, T, C) of each part, zeros past the end of a sequence."""
        rectangles = []
        for rows, part in zip(x.split([sum(part.lengths) for part in self.parts]), self.parts, strict=True):
            if not part.is_full:
                empty = x.new_zeros(len(part.lengths) * part.width, x.shape[1])
                rows = empty.index_copy_(0, part.slots.to(x.device), rows)
            rectangles.append(rows.view(*part.shape, -1))
        return rectangles

    def join(self, rectangles: Iterable[Tensor]) -> Tensor:
        """(B, T, C) of each part → (N, C), without what is past the end of a sequence."""
        joined = []
        for rectangle, part in zip(rectangles, self.parts, strict=True):
            rows = rectangle.flatten(0, 1)
            # rows by their number; of the ways to take them this one has the fastest way back
            joined.append(rows if part.is_full else F.embedding(part.slots.to(rows.device), rows))
        return torch.cat(joined)

    @cached_property
    def extents(self) -> Tensor:
        """Where each sequence starts in (N, C), and its length: (2, sequences) int64, on the CPU."""
        lengths = torch.tensor([length for part in self.parts for length in part.lengths])
        return torch.stack([lengths.cumsum(0) - lengths, lengths])

    @cached_property
    def positions(self) -> Tensor:
        """Each character's position in its sequence: (N,) int64, on the CPU."""
        starts, lengths = self.extents
        return torch.arange(int(lengths.sum())) - starts.repeat_interleave(lengths)
