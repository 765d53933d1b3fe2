"""A text in pieces, whatever its script: words, signs, and parts of words where answers begin or end inside of them."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stages.corpus.vocabulary import Vocabulary

SPACE, MARK, CAPITAL, LETTER, DIGIT, SIGN = range(6)  # kinds of characters
KINDS = {"M": MARK, "Cf": MARK, "Lu": CAPITAL, "Lt": CAPITAL, "L": LETTER, "N": DIGIT, "Z": SPACE, "C": SPACE}
LEAST_SHARE = 0.005  # of the answers begin or end beside a character inside of a word, where pieces do


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
