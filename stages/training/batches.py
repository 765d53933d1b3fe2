"""The order of the data, and batches without padding waste."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stages.corpus.example import PAD, Examples, columns
from stages.experiment.backend import generator
from stages.model.packing import CHARACTER_STEP, Packing, Part

# Parts are the rectangles of mixers that need some. They have few different shapes, because kernels are prepared for
# each: that takes longer than running them.
LENGTH_STEP = 8  # widths of parts are multiples of this (a context is one, too)
ROW_STEP = 8  # cuts are at multiples of this
PART_COST = 100  # what a part costs beside its area, in characters (measured on two CPU cores)


def rows_of_step(rows: int, batch_size: int, seed: int, step: int, shuffled: bool = True) -> np.ndarray:
    """Return the rows of a step, (≤ batch_size,); each epoch is a new shuffle, its last batch may be short.

    shuffled: False: each epoch has the rows in the order of their file.
    """
    epoch, batch = divmod(step, steps_per_epoch(rows, batch_size))
    order = _order(rows, seed, epoch) if shuffled else np.arange(rows)
    return order[batch * batch_size : (batch + 1) * batch_size]


@lru_cache(maxsize=1)  # once an epoch, so that a step costs the same whatever the corpus
def _order(rows: int, seed: int, epoch: int) -> np.ndarray:
    """Return the rows of an epoch, shuffled."""
    order = generator(seed, "order", epoch).permutation(rows)
    order.flags.writeable = False  # every step of the epoch reads it
    return order


def steps_per_epoch(rows: int, batch_size: int) -> int:
    """Batches that hold every row once."""
    return -(-rows // batch_size)


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
