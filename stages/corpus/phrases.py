"""Phrases of pages that may be asked for, each with its probability, and the words around them."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from stages.corpus.ragged import Ragged

Span = tuple[int, int]  # start and end, in characters from a document's start
SPAN = np.dtype((np.int32, 2))
PROBABILITY = np.dtype(np.float32)
SHARPNESS = 2  # a probability is a likelihood to this power, over their sum
LEAST_PROBABILITY = 1e-6
DIGITS = 6  # of scores and probabilities: the last ones of a processor's sums do not matter
CAPITALISED = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
WORD = re.compile(r"\w(?:[\w'’-]*\w)?")


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

    def with_probabilities(self, probabilities: Iterable[Sequence[float]]) -> "Phrases":
        """Give the same phrases other probabilities, page by page."""
        return Phrases(self.spans, Ragged.gather(probabilities, np.dtype(np.float64)))

    def weights(self, salient: float) -> Ragged:
        """Weigh each phrase for a draw (rows of (phrases,)): in a share `salient` by its probability, else as any."""
        equal = _equal(self.spans.lengths)
        return Ragged(salient * self.probabilities.values + (1 - salient) * equal, self.probabilities.offsets)


def _equal(lengths: np.ndarray) -> np.ndarray:
    """(all phrases,) equal probabilities on pages with so many phrases (pages,)."""
    return np.repeat(1 / np.maximum(1, lengths), lengths)


def as_probabilities(scores: np.ndarray) -> list[float]:
    """Turn the scores of a page's phrases, log likelihoods (phrases,), into probabilities, rounded."""
    likelihoods = np.exp(SHARPNESS * (scores - scores.max(initial=-np.inf)))
    probabilities = np.maximum(likelihoods / likelihoods.sum(), LEAST_PROBABILITY).round(DIGITS)
    return [*probabilities.tolist()]


def capitalised_phrases(document: str, title_length: int) -> list[Span]:
    """Find runs of capitalised words with single spaces between, not all of them words of the title; else every word.

    title_length: where the title ends.
    """
    words = [match.span() for match in CAPITALISED.finditer(document, title_length)]
    runs: list[Span] = []
    for start, end in words:
        if not document[start].isupper():
            continue
        if runs and document[runs[-1][1] : start] == " ":
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))

    of_title = {*CAPITALISED.findall(document[:title_length])}
    other = [(start, end) for start, end in runs if not {*CAPITALISED.findall(document[start:end])} <= of_title]
    return other or words


def common_words(texts: Iterable[str], title_lengths: Iterable[int], most: int | None) -> frozenset[str]:
    """Find the commonest words by pages, at most `most` (None: all); ties go in alphabetical order.

    title_lengths: where each page's title ends; its words do not count.
    """
    counts = Counter[str]()
    for text, title_length in zip(texts, title_lengths, strict=True):
        counts.update({*WORD.findall(text, title_length)})
    return frozenset(sorted(counts, key=lambda word: (-counts[word], word))[:most])


def fences_of(text: str, phrases: Sequence[Span], answers: frozenset[str]) -> list[Span]:
    """Find the phrases of a page that answer a training question: a cue has no words from beyond one.

    In `born in Ulm, Peru` the words before Ulm are not Peru's: else the same cue would have two right answers.
    """
    return [(start, end) for start, end in phrases if text[start:end] in answers]


def words_around(phrase: Span, words: list[Span], fences: Sequence[Span], before: int, after: int) -> list[Span]:
    """At most so many words before and after a phrase, up to the nearest fence; words, fences: in the page's order."""
    start, end = phrase
    first = max((fence_end for _, fence_end in fences if fence_end <= start), default=0)
    last = min((fence_start for fence_start, _ in fences if fence_start >= end), default=words[-1][1] if words else 0)
    left = bisect_right(words, start, key=itemgetter(1))
    right = bisect_left(words, end, key=itemgetter(0))
    near = words[max(0, left - before) : left] + words[right : right + after]
    return [word for word in near if first <= word[0] and word[1] <= last]
