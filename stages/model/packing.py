"""How the sequences of a batch lie one after the other in one tensor, without PAD."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Self

import torch
from torch import Tensor

CHARACTER_STEP = 128  # how many characters are computed is a multiple of this: kernels are prepared for each number


@dataclass(frozen=True)
class Part:
    """Sequences that stand together in one rectangle (B, T) where a mixer needs one."""

    lengths: tuple[int, ...]  # (B,) characters of each sequence, at most T
    width: int  # T

    @property
    def shape(self) -> torch.Size:
        """(B, T)."""
        return torch.Size((len(self.lengths), self.width))

    @property
    def characters(self) -> int:
        """Of all sequences."""
        return sum(self.lengths)

    @property
    def is_full(self) -> bool:
        """Whether every sequence is as long as the rectangle is wide."""
        return self.characters == self.shape.numel()

    def first(self, characters: int) -> "Part":
        """The sequences' first characters."""
        return Part(tuple(min(length, characters) for length in self.lengths), min(self.width, characters))

    def filled(self) -> Tensor:
        """Which elements of the rectangle hold a character: (B, T) bool, on the CPU."""
        return torch.arange(self.width) < torch.tensor(self.lengths)[:, None]


@dataclass(frozen=True)
class Packing:
    """Which of the N characters of a tensor (N, C) belong to which sequence: sequence after sequence, without PAD.

    All that works on characters one by one goes over (N, C). What mixes them over time finds the sequences by their
    `extents`, or takes the rectangles of the `parts` (`split_heads`).
    """

    parts: tuple[Part, ...]

    @classmethod
    def full(cls, *shapes: Sequence[int]) -> Self:
        """The sequences of full rectangles (B, T), one rectangle after the other."""
        return cls(tuple(Part((T,) * B, T) for B, T in shapes))

    def first(self, characters: int) -> Self:
        """The sequences' first characters."""
        return type(self)(tuple(part.first(characters) for part in self.parts))

    def rounded(self, step: int = CHARACTER_STEP) -> Self:
        """With longer sequences where the rectangles have room, as `round_up` adds characters."""
        lengths = [length for part in self.parts for length in part.lengths]
        widths = [part.width for part in self.parts for _ in part.lengths]
        longer = iter(round_up(lengths, widths, step))
        return type(self)(tuple(Part(tuple(islice(longer, len(part.lengths))), part.width) for part in self.parts))

    @property
    def sizes(self) -> list[int]:
        """Characters of each part."""
        return [part.characters for part in self.parts]

    @property
    def are_full(self) -> bool:
        """Whether every part is full."""
        return all(part.is_full for part in self.parts)

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


def round_up(lengths: Iterable[int], widths: Iterable[int], step: int) -> list[int]:
    """Lengths of sequences that add up to a multiple of `step`, if their rectangles have room for what is missing.

    The first sequences with room take it. widths: of each sequence's rectangle.
    """
    longer = list(lengths)
    missing = -sum(longer) % step
    for i, width in enumerate(widths):
        added = min(missing, width - longer[i])
        longer[i] += added
        missing -= added
    return longer
