"""A text in pieces, whatever its script, and all spans of a page: runs of pieces, and what tells them apart.

Pieces are words, signs, and parts of words where answers begin or end inside of them.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from stages.corpus.vocabulary import Vocabulary

SPACE, MARK, CAPITAL, LETTER, DIGIT, SIGN = range(6)  # kinds of characters
KINDS = {"M": MARK, "Cf": MARK, "Lu": CAPITAL, "Lt": CAPITAL, "L": LETTER, "N": DIGIT, "Z": SPACE, "C": SPACE}
LEAST_SHARE = 0.005  # of the answers begin or end beside a character inside of a word, where pieces do
BEFORE, AFTER = 4, 2  # pieces of text that count on that side
NEAR = 2  # so many on either side count by their kinds, together
PRIME = 1_000_003  # the number of a sequence of kinds is a polynomial's value at it


@dataclass(frozen=True)
class Cutter:
    """Cuts texts into pieces: each sign, and runs of letters, digits and the marks that belong to them.

    Inside of words pieces end before the characters that follow answers there, and after those that precede them:
    particles, and in a script without spaces nearly all.
    """

    kinds: np.ndarray  # (characters of the vocabulary,)
    follows: np.ndarray  # (characters of the vocabulary,) bool
    precedes: np.ndarray  # (characters of the vocabulary,) bool

    @classmethod
    def learned(cls, vocabulary: Vocabulary, answered: Sequence[tuple[np.ndarray, str]]) -> "Cutter":
        """Learn from encoded texts, each with an answer that stands in it, where pieces end."""
        kinds = np.array([_kind(character) for character in vocabulary.characters])
        none = np.zeros(len(kinds), bool)
        whole = cls(kinds, none, none)
        follows, precedes = np.zeros_like(kinds), np.zeros_like(kinds)  # how often
        for tokens, answer in answered:
            first, last = map(set, map(np.ndarray.tolist, whole.cut(tokens)))
            places = [match.span() for match in re.finditer(re.escape(answer), vocabulary.decode(tokens.tolist()))]
            if not places or any(start in first and end in last for start, end in places):
                continue
            start, end = places[0]
            if start not in first:
                precedes[tokens[start - 1 : start]] += 1
            if end not in last:
                follows[tokens[end : end + 1]] += 1
        least = max(1, LEAST_SHARE * len(answered))
        return cls(kinds, follows >= least, precedes >= least)

    def cut(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(pieces,) where each piece of an encoded text starts, and (pieces,) where it ends."""
        kinds = self.kinds[tokens]
        blank = kinds == SPACE
        word = ~blank & (kinds != SIGN)
        inner = word[1:] & word[:-1] & ~self.follows[tokens[1:]] & ~self.precedes[tokens[:-1]]
        joined = inner | (kinds[1:] == MARK) & ~blank[:-1]  # to the character before
        starts = ~blank & ~np.concatenate([[False], joined])[: len(tokens)]
        ends = ~blank & ~np.concatenate([joined, [False]])[: len(tokens)]
        return np.flatnonzero(starts), np.flatnonzero(ends) + 1


def _kind(character: str) -> int:
    """Tell the kind of a character by its Unicode category; joiners belong to the letters beside them."""
    category = unicodedata.category(character)
    return KINDS.get(category, KINDS.get(category[0], SIGN))


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
        around = _padded(words, BEFORE, AFTER)
        kinds = _padded(self.kinds[text[starts]] + 1, BEFORE, self.most + AFTER)
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
    return np.stack(columns, 1) * len(columns) + np.arange(len(columns))


def _padded(numbers: np.ndarray, before: int, after: int) -> np.ndarray:
    """Put so many zeros before and after numbers (n,); np.pad takes ten times as long for the few of a page."""
    return np.concatenate([np.zeros(before, numbers.dtype), numbers, np.zeros(after, numbers.dtype)])


def _sequence(kinds: np.ndarray, first: np.ndarray, most: int, length: np.ndarray | int = BEFORE) -> np.ndarray:
    """(spans,) a number for the `length` kinds from `first` (spans,) on."""
    number = np.zeros(len(first), np.int64)
    for place in range(most):
        number = np.where(place < length, number * PRIME + kinds[first + place], number)  # wraps around
    return number
