"""All spans of a page: runs of pieces, and what tells them apart."""

from zlib import crc32

import numpy as np

from stages.corpus.pieces import DIGIT, SIGN, Cutter
from stages.corpus.vocabulary import Vocabulary

BEFORE, AFTER = 4, 2  # pieces of text that count on that side
NEAR = 2  # so many on either side count by their kinds, together
PRIME = 1_000_003  # the number of a sequence of kinds is a polynomial's value at it


class Spans:
    """Finds and describes the spans of texts, the longest of `most` pieces."""

    def __init__(self, vocabulary: Vocabulary, cutter: Cutter, most: int) -> None:
        kinds = cutter.kinds
        self.cutter, self.most = cutter, most
        self.kinds = np.where(kinds == SIGN, SIGN + np.arange(len(kinds)), kinds)  # each sign is one
        characters = zip(vocabulary.characters, kinds == DIGIT, strict=True)
        self.characters = ["0" if digit else character for character, digit in characters]

    def described(self, title: np.ndarray, text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(spans, 2) where the spans of an encoded text lie, and (spans, features) what is true of each.

        title: of the page, encoded. Features are numbers, of no order. Two spans have the same one if the same is true
        of them: of the pieces before and after, of the kinds of the pieces inside, of the length, of the place in the
        page, of the words of the title among them. Which words a span has is no feature, so an answer that was never
        seen is found like another.
        """
        starts, ends, words = self._words(text)
        first, length = (grid.ravel() for grid in np.mgrid[: len(words), 1 : self.most + 1])
        inside = first + length <= len(words)
        first, length = first[inside], length[inside]  # (spans,) in pieces
        last = first + length - 1
        begin, end = starts[first], ends[last]  # (spans,) in characters

        title_words = set(self._words(title)[2].tolist())
        of_title = np.cumsum([0, *(word in title_words for word in words.tolist())])
        shared = of_title[last + 1] - of_title[first]
        around = np.pad(words, (BEFORE, AFTER))
        kinds = np.pad(self.kinds[text[starts]] + 1, (BEFORE, self.most + AFTER))
        features = [
            *(around[first + BEFORE - 1 - i] for i in range(BEFORE)),
            *(around[last + BEFORE + 1 + i] for i in range(AFTER)),
            _sequence(kinds, first + BEFORE - NEAR, NEAR),
            _sequence(kinds, last + BEFORE + 1, NEAR),
            _sequence(kinds, first + BEFORE, self.most, length),
            kinds[first + BEFORE] * PRIME + kinds[last + BEFORE],
            np.frexp(end - begin)[1],  # the length doubled is another
            np.frexp(first + 1)[1],
            (shared > 0).astype(int) + (shared == length),
        ]
        return np.stack([begin, end], 1), distinct(features)

    def _words(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(pieces,) starts, ends and checksums of the pieces of an encoded text; all digits are alike."""
        starts, ends = self.cutter.cut(tokens)
        text = "".join(map(self.characters.__getitem__, tokens.tolist()))
        words = [crc32(text[start:end].encode()) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return starts, ends, np.array(words, np.int64)


def distinct(columns: list[np.ndarray]) -> np.ndarray:
    """(rows, columns) the same numbers, such that no two columns share one."""
    return np.stack([column * len(columns) + place for place, column in enumerate(columns)], 1)


def _sequence(kinds: np.ndarray, first: np.ndarray, most: int, length: np.ndarray | int = BEFORE) -> np.ndarray:
    """(spans,) a number for the `length` kinds from `first` (spans,) on."""
    number = np.zeros(len(first), np.int64)
    for place in range(most):
        number = np.where(place < length, number * PRIME + kinds[first + place], number)  # wraps around
    return number
