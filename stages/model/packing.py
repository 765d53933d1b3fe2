"""How a batch lies in memory: its sequences one after the other in one tensor, without PAD, or in rectangles."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples, columns

# Parts are the rectangles of mixers that need some. They have few different shapes, because kernels are prepared for
# each: that takes longer than running them.
LENGTH_STEP = 8  # widths of parts are multiples of this (a context is one, too)
ROW_STEP = 8  # cuts are at multiples of this
PART_COST = 100  # what a part costs beside its area, in characters (measured on two CPU cores)
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


def split_by_length(
    examples: Examples,
    part_cost: int = PART_COST,
    row_step: int = ROW_STEP,
    length_step: int = LENGTH_STEP,
    widest: int = sys.maxsize,
) -> list[Examples]:
    """Sort a batch by length and cut it into parts, each just wide enough for its longest row, up to `widest`.

    The rows together are the batch; only PAD columns are gone, and PAD carries no loss. The cuts are those that
    make the parts' area (rows x width) least, when each part costs `part_cost` of area beside its own.
    """
    order = np.argsort(examples.lengths, kind="stable")
    widths = np.minimum(-(-examples.lengths[order] // length_step) * length_step, widest)  # (B,) ascending
    parts = []
    for start, end in cheapest_cuts(widths, part_cost, row_step):
        rows = order[start:end]
        width = int(widths[end - 1])
        inputs = columns(examples.inputs[rows], width)
        targets = columns(examples.targets[rows], width)
        parts.append(Examples(inputs, targets, examples.lengths[rows]))
    return parts


@dataclass(frozen=True)
class PackedBatch:
    """A batch's characters, row after row, without the PAD at the rows' ends."""

    inputs: np.ndarray  # (N,) int64
    targets: np.ndarray  # (N,) int64, PAD where there is no loss
    packing: Packing
    loss_indices: np.ndarray | None  # numbers of the characters with a target, and few others; None if that is all

    @classmethod
    def of(cls, parts: Sequence[Examples]) -> "PackedBatch":
        """Pack a batch's parts.

        Some characters past a row's last target stay, so that the number of all is a multiple of CHARACTER_STEP where
        there are enough, and so is the number of those with a loss: kernels are prepared for each number that comes up.
        """
        shapes = (Part(tuple(part.lengths.tolist()), part.inputs.shape[1]) for part in parts)
        packing = Packing(tuple(shapes)).rounded()
        masks = [part.filled().numpy() for part in packing.parts]  # (B, T) each
        inputs = np.concatenate([part.inputs[mask] for part, mask in zip(parts, masks, strict=True)])
        targets = np.concatenate([part.targets[mask] for part, mask in zip(parts, masks, strict=True)])

        loss_mask = targets != PAD
        loss_mask[np.flatnonzero(~loss_mask)[: -loss_mask.sum() % CHARACTER_STEP]] = True
        return cls(inputs, targets, packing, None if loss_mask.all() else np.flatnonzero(loss_mask))


def cheapest_cuts(widths: np.ndarray, part_cost: int, row_step: int) -> list[tuple[int, int]]:
    """Return the cheapest cuts of ascending widths (B,): start and end of each part (dynamic programming)."""
    ends = [*range(0, len(widths), row_step), len(widths)]
    cheapest: list[tuple[int, int]] = [(0, 0)]  # by end: cost of the rows before, and where the last part starts
    for last in range(1, len(ends)):
        width = int(widths[ends[last] - 1])
        costs = [cheapest[first][0] + part_cost + (ends[last] - ends[first]) * width for first in range(last)]
        cheapest.append(min(zip(costs, range(last), strict=True)))

    parts = []
    last = len(ends) - 1
    while last > 0:
        first = cheapest[last][1]
        parts.append((ends[first], ends[last]))
        last = first
    return parts[::-1]
