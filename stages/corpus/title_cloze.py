"""Title cloze: a page's name and a few characters of it, then ⁇ and the phrase that comes next.

It asks of a page what a question asks, in the page's own words: `Ada Lovelace was born in ⁇London⁇`. After salient
span masking as Roberts et al. 2020 (arXiv 2002.08910) use it, with the page's name as context.
"""

from typing import ClassVar

import numpy as np

from stages.corpus.example import PAD
from stages.corpus.phrase_cloze import PhraseClozes
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.settings import TitleCloze


class TitleClozes(PhraseClozes):
    """Draws title clozes from documents.

    The left context is 0…longest_context characters. In a share `free_order`
    of the examples the name stands anywhere in it, else before it. In a share `blanked_rows` some characters of
    the context are PAD, a share `blanked_characters` of them.

    To fit the model's context the characters before the phrase get fewer; a phrase or a name that is too long is cut
    at its end.
    """

    opening_is_target: ClassVar[bool] = True

    def __init__(self, prepared: Prepared, phrases: Phrases, settings: TitleCloze, context: int) -> None:
        super().__init__(prepared, phrases, settings, context)
        self.settings = settings

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document, heading, settings = self.documents[row], int(self.headings[row]), self.settings
        name, cumulated = document[:heading], np.cumsum(self.weights[row])
        if not len(cumulated):
            return name, document[:0]
        drawn = np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right")
        start, end = self.spans[row][drawn].tolist()
        end = min(end, start + self.context // 2)
        name = name[: self.context - (end - start) - 1]
        room = self.context - len(name) - (end - start) - 3  # two masks and a space
        longest = max(0, min(settings.longest_context, start - heading - 2, room))
        context = document[start - generator.integers(0, longest, endpoint=True) : start]
        if generator.random() < settings.blanked_rows:
            blanked = generator.random(len(context)) < settings.blanked_characters
            context = np.where(blanked, PAD, context)
        split = generator.integers(0, len(context), endpoint=True) if generator.random() < settings.free_order else 0
        space = self.space[: len(context) and 1]
        named = [context[:split], space, name] if split else [name, space]
        return np.concatenate([*named, context[split:]]), document[start:end]
