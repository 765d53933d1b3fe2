"""Rows of different lengths, end to end in one array."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Ragged:
    """Encoded texts, or other rows, end to end: row i is values[offsets[i]:offsets[i + 1]]."""

    values: np.ndarray  # (total length,) of integers, where they are texts
    offsets: np.ndarray  # (rows + 1,) int64

    @classmethod
    def of(cls, rows: Sequence[np.ndarray]) -> "Ragged":
        """Join rows (each (length,) of integers)."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.concatenate([np.empty(0, np.uint8), *rows]), offsets)

    @classmethod
    def gather(cls, rows: Iterable[Sequence[Any]], dtype: np.dtype) -> "Ragged":
        """Join rows of `dtype`, which may be pairs of numbers, as they are made: no two are in memory at once."""
        lengths = [0]

        def elements() -> Iterator[Any]:
            for row in rows:
                lengths.append(len(row))
                yield from row

        values = np.fromiter(elements(), dtype)
        return cls(values, np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) how long each is."""
        return np.diff(self.offsets)
