"""Phrases of pages that may be asked for, each with its chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stages.corpus.ragged import Ragged

Span = tuple[int, int]  # start and end, in characters from a document's start
SPAN, CHANCE = np.dtype((np.int32, 2)), np.dtype(np.float32)


@dataclass(frozen=True)
class Phrases:
    """The phrases of each page, in the page's order, and of each its chance to be the answer; they may overlap."""

    spans: Ragged  # rows of (phrases, 2)
    chances: Ragged  # rows of (phrases,)

    @classmethod
    def alike(cls, spans: Iterable[Sequence[Span]]) -> "Phrases":
        """These phrases of each page, one as likely as another."""
        found = Ragged.gather(spans, SPAN)
        return cls(found, Ragged(np.repeat(1 / np.maximum(1, found.lengths), found.lengths), found.offsets))

    def chosen(self, chances: Iterable[Sequence[float]]) -> "Phrases":
        """The same phrases with other chances; chances: of each page."""
        return Phrases(self.spans, Ragged.gather(chances, np.dtype(np.float64)))
