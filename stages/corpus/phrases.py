"""Phrases of pages that may be asked for, each with its probability."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stages.corpus.text import Ragged

Span = tuple[int, int]  # start and end, in characters from a document's start
SPAN = np.dtype((np.int32, 2))
PROBABILITY = np.dtype(np.float32)
SHARPNESS = 2  # a probability is a likelihood to this power, over their sum
LEAST_PROBABILITY = 1e-6
DIGITS = 6  # of scores and probabilities: the last ones of a processor's sums do not matter


@dataclass(frozen=True)
class Phrases:
    """The phrases of each page, in the page's order, with their probabilities to be the answer; they may overlap."""

    spans: Ragged  # rows of (phrases, 2)
    probabilities: Ragged  # rows of (phrases,)

    @classmethod
    def alike(cls, spans: Iterable[Sequence[Span]]) -> "Phrases":
        """Make phrases of each page that are all as likely."""
        rows = Ragged.gather(spans, SPAN)
        return cls(rows, Ragged(_equal(rows.lengths), rows.offsets))

    def chosen(self, probabilities: Iterable[Sequence[float]]) -> "Phrases":
        """Give the same phrases other probabilities, page by page."""
        return Phrases(self.spans, Ragged.gather(probabilities, np.dtype(np.float64)))

    def weights(self, salient: float) -> Ragged:
        """Weigh each phrase for a draw (rows of (phrases,)): in a share `salient` by its probability, else as any."""
        equal = _equal(self.spans.lengths)
        return Ragged(salient * self.probabilities.tokens + (1 - salient) * equal, self.probabilities.offsets)


def as_probabilities(scores: np.ndarray) -> list[float]:
    """Turn the scores of a page's phrases, log likelihoods (phrases,), into probabilities, rounded."""
    likelihoods = np.exp(SHARPNESS * (scores - scores.max(initial=-np.inf)))
    probabilities = np.maximum(likelihoods / likelihoods.sum(), LEAST_PROBABILITY).round(DIGITS)
    return [*probabilities.tolist()]


def _equal(lengths: np.ndarray) -> np.ndarray:
    """(all phrases,) equal probabilities on pages with so many phrases (pages,)."""
    return np.repeat(1 / np.maximum(1, lengths), lengths)
