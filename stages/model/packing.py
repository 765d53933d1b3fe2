"""How the characters of a batch belong to its rows."""

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
    """Rows that stand together in one rectangle (B, T) where a mixer needs one."""

    lengths: tuple[int, ...]  # (B,) characters of each row, at most T
    width: int  # T

    @property
    def shape(self) -> torch.Size:
        """(B, T)."""
        return torch.Size((len(self.lengths), self.width))

    @property
    def characters(self) -> int:
        """Of all rows."""
        return sum(self.lengths)

    @property
    def is_full(self) -> bool:
        """Whether the rectangle has no empty places."""
        return self.characters == self.shape.numel()

    def first(self, characters: int) -> "Part":
        """The rows' first characters."""
        return Part(tuple(min(length, characters) for length in self.lengths), min(self.width, characters))

    def filled(self) -> Tensor:
        """Which places of the rectangle hold a character: (B, T) bool, on the CPU."""
        return torch.arange(self.width) < torch.tensor(self.lengths)[:, None]


@dataclass(frozen=True)
class Packing:
    """Rows whose characters lie one after the other in (N, C), row after row, without PAD.

    All that works on characters one by one goes over (N, C). What mixes them over time finds the rows by their
    `places`, or takes the rectangles of the `parts` (`split_heads`).
    """

    parts: tuple[Part, ...]

    @classmethod
    def full(cls, *shapes: Sequence[int]) -> Self:
        """The rows of rectangles (B, T) without empty places, one rectangle after the other."""
        return cls(tuple(Part((T,) * B, T) for B, T in shapes))

    @classmethod
    def of(cls, lengths: Iterable[Sequence[int]]) -> Self:
        """Parts, each given by the lengths of its rows, as wide as its longest."""
        return cls(tuple(Part(tuple(part), max(part)) for part in lengths))

    def first(self, characters: int) -> Self:
        """The rows' first characters."""
        return type(self)(tuple(part.first(characters) for part in self.parts))

    def rounded(self) -> Self:
        """With characters in empty places of the rectangles, as `round_up` adds them."""
        lengths = [length for part in self.parts for length in part.lengths]
        widths = [part.width for part in self.parts for _ in part.lengths]
        longer = iter(round_up(lengths, widths))
        return type(self)(tuple(Part(tuple(islice(longer, len(part.lengths))), part.width) for part in self.parts))

    @property
    def sizes(self) -> list[int]:
        """Characters of each part."""
        return [part.characters for part in self.parts]

    @property
    def are_full(self) -> bool:
        """Whether no part has empty places."""
        return all(part.is_full for part in self.parts)

    @cached_property
    def places(self) -> Tensor:
        """Where each row starts in (N, C), and its length: (2, rows) int64, on the CPU."""
        lengths = torch.tensor([length for part in self.parts for length in part.lengths])
        return torch.stack([lengths.cumsum(0) - lengths, lengths])

    @cached_property
    def positions(self) -> Tensor:
        """Each character's position in its row: (N,) int64, on the CPU."""
        starts, lengths = self.places
        return torch.arange(int(lengths.sum())) - starts.repeat_interleave(lengths)


def round_up(lengths: Iterable[int], widths: Iterable[int], step: int = CHARACTER_STEP) -> list[int]:
    """Lengths of rows that add up to a multiple of `step`, if the rows' rectangles have room for what is missing.

    The first rows with room take it. widths: of each row's rectangle.
    """
    longer = list(lengths)
    missing = -sum(longer) % step
    for row, width in enumerate(widths):
        added = min(missing, width - longer[row])
        longer[row] += added
        missing -= added
    return longer
