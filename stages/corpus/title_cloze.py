"""Title cloze: a page's name and a few characters of it, then ⁇ and the capitalised phrase that comes next.

It asks of a page what a question asks, in the page's own words: `Ada Lovelace was born in ⁇London⁇`. After salient
span masking as Roberts et al. 2020 (arXiv 2002.08910) use it, with a capital for an entity and the page's name as
context.
"""

import numpy as np

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.page import page
from stages.corpus.phrase_weights import phrase_weights
from stages.corpus.prepared import Prepared
from stages.settings import TitleCloze


class TitleClozes:
    """Draws title clozes from documents."""

    def __init__(self, prepared: Prepared, settings: TitleCloze, context: int) -> None:
        """context: the longest sequence a model can read.

        To fit it the characters before the phrase get fewer; a phrase or a name that is too long is cut at its end.
        """
        self.documents = documents = prepared.documents
        vocabulary = prepared.vocabulary
        self.settings = settings
        self.context = context
        texts = [vocabulary.decode(documents[row]) for row in range(len(documents))]
        self.pages = [page(text) for text in texts]
        weights = phrase_weights(prepared, texts, self.pages, settings)
        self.cumulated = [np.cumsum(of_page) for of_page in weights]
        self.space = vocabulary.encode(" ")  # empty where no document has one

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the ⁇, the phrase and the closing ⁇.

        The phrase is drawn by its weight. The left context is 0…longest_context characters. In a share `free_order`
        of the examples the name stands anywhere in it, else before it. In a share `blanked_rows` some characters of
        the context are PAD, a share `blanked_characters` of them.
        """
        cues, answers = zip(*(self._example(row, generator) for row in rows), strict=True)
        sequences = [np.concatenate([cue, [MASK], answer, [MASK]]) for cue, answer in zip(cues, answers, strict=True)]
        return Examples.of_rows(sequences, [len(cue) for cue in cues])

    def _example(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        parts, document, settings = self.pages[row], self.documents[row], self.settings
        name = document[: parts.heading]
        if not parts.phrases:
            return name, document[:0]
        cumulated = self.cumulated[row]
        start, end = parts.phrases[np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right")]
        end = min(end, start + self.context // 2)
        name = name[: self.context - (end - start) - 1]
        room = self.context - len(name) - (end - start) - 3  # two masks and a space
        longest = max(0, min(settings.longest_context, start - parts.heading - 2, room))
        context = document[start - generator.integers(0, longest, endpoint=True) : start]
        if generator.random() < settings.blanked_rows:
            blanked = generator.random(len(context)) < settings.blanked_characters
            context = np.where(blanked, PAD, context)
        place = generator.integers(0, len(context), endpoint=True) if generator.random() < settings.free_order else 0
        cue = np.concatenate([context[:place], self.space[: len(context) and 1], name, context[place:]])
        if place == 0:
            cue = np.concatenate([name, self.space[: len(context) and 1], context])
        return cue, document[start:end]
