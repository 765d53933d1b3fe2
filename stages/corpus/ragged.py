"""Rows of different lengths in one array."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ragged:
    """Encoded texts end to end: row i is tokens[offsets[i]:offsets[i + 1]]."""

    tokens: np.ndarray  # (total length,) int64
    offsets: np.ndarray  # (rows + 1,) int64

    @classmethod
    def of(cls, rows: Sequence[np.ndarray]) -> "Ragged":
        """Join rows (each (length,) int64)."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.concatenate([np.empty(0, np.int64), *rows]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.tokens[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) how long each is."""
        return np.diff(self.offsets)
