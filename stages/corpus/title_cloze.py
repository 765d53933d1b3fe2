"""Title cloze: a page's name and a few characters of it, then ⁇ and the phrase that comes next.

It asks of a page what a question asks, in the page's own words: `Ada Lovelace was born in ⁇London⁇`. After salient
span masking as Roberts et al. 2020 (arXiv 2002.08910) use it, with the page's name as context.
"""

from typing import ClassVar

import numpy as np

from stages.corpus.example import PAD
from stages.corpus.phrase_cloze import PhraseClozes
from stages.settings import TitleCloze

LONGEST_CONTEXT = 32  # characters left of the phrase: about the words that a question repeats
BLANKED = 0.3  # share of the characters that are blanked where some are


class TitleClozes(PhraseClozes):
    """Draws title clozes from documents.

    The left context is 0…32 characters. In a share `free_order` of the examples the name stands anywhere
    in it, else before it. In a share `blanked_rows` about three tenths of the context are PAD.

    To fit the model's context the left context gets shorter; a phrase or a name that is too long is cut at its end.
    """

    opening_is_target: ClassVar[bool] = True
    settings: TitleCloze

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document, heading = self.documents[row], int(self.headings[row])
        cumulated = np.cumsum(self.weights[row])
        if not len(cumulated):
            return document[:heading], document[:0]

        drawn = np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right")
        start, end = self.spans[row][drawn].tolist()
        phrase = document[start:end][: self.context // 2]
        name = document[:heading][: self.context - len(phrase) - 1]

        room = self.context - len(name) - len(phrase) - 3  # two masks and a space
        longest = max(0, min(LONGEST_CONTEXT, start - heading - 2, room))
        left = document[start - generator.integers(0, longest, endpoint=True) : start]
        return self._cue(name, self._blanked(left, generator), generator), phrase

    def _blanked(self, left: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Put PAD in the place of some characters of the left context, in some examples."""
        if generator.random() >= self.settings.blanked_rows:
            return left
        return np.where(generator.random(len(left)) < BLANKED, PAD, left)

    def _cue(self, name: np.ndarray, left: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Put the name before the left context, or anywhere in it."""
        free = generator.random() < self.settings.free_order
        split = generator.integers(0, len(left), endpoint=True) if free else 0
        space = self.space if len(left) else self.space[:0]
        named = [left[:split], space, name] if split else [name, space]
        return np.concatenate([*named, left[split:]])
