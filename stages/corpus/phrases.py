"""Phrases of pages that may be asked for, each with its chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stages.corpus.ragged import Ragged

Span = tuple[int, int]  # start and end, in characters from a document's start
SPAN, CHANCE = np.dtype((np.int32, 2)), np.dtype(np.float32)
SHARPNESS = 2  # a chance is a likelihood to this power
LEAST_CHANCE = 1e-6
DIGITS = 6  # of scores and chances: the last ones of a processor's sums do not matter


@dataclass(frozen=True)
class Phrases:
    """The phrases of each page, in the page's order, with their chances to be the answer; they may overlap."""

    spans: Ragged  # rows of (phrases, 2)
    chances: Ragged  # rows of (phrases,)

    @classmethod
    def alike(cls, spans: Iterable[Sequence[Span]]) -> "Phrases":
        """Make phrases of each page that are all as likely."""
        rows = Ragged.gather(spans, SPAN)
        return cls(rows, Ragged(_equal_chances(rows.lengths), rows.offsets))

    def chosen(self, chances: Iterable[Sequence[float]]) -> "Phrases":
        """Give the same phrases other chances, page by page."""
        return Phrases(self.spans, Ragged.gather(chances, np.dtype(np.float64)))

    def weights(self, salient: float) -> Ragged:
        """How likely each phrase is drawn (rows of (phrases,)): by its chance in a share `salient`, else as any."""
        equal = _equal_chances(self.spans.lengths)
        return Ragged(salient * self.chances.tokens + (1 - salient) * equal, self.chances.offsets)


def as_chances(scores: np.ndarray) -> list[float]:
    """Turn the scores of a page's phrases into chances, by their log likelihoods (phrases,), rounded."""
    likelihoods = np.exp(SHARPNESS * (scores - scores.max(initial=-np.inf)))
    chances: list[float] = np.maximum(likelihoods / likelihoods.sum(), LEAST_CHANCE).round(DIGITS).tolist()
    return chances


def _equal_chances(lengths: np.ndarray) -> np.ndarray:
    """(all phrases,) the chances of pages with so many phrases (pages,)."""
    return np.repeat(1 / np.maximum(1, lengths), lengths)
