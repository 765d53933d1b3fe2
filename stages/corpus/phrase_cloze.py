"""What clozes of capitalised phrases share: a cue, ⁇ and a phrase of the page, drawn by its weight.

A phrase that many pages have tells little of any, and one that no other page has (mostly another person's name) is much
to memorise for a single page: both can be asked for more seldom, by their document frequency. A phrase that answers a
training question is of the kind that is asked for: a salient span (Guu et al. 2020, arXiv 2002.08909), found in all
pages alike by a list instead of a tagger. No answer of dev or test is known here. A phrase that a comma joins to the
one before it mostly says where that lies (Peru in `Ulm, Peru`), and is seldom what a question about the page means.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.page import Page, Pages, shared_by
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.settings import PhraseCloze

COMMA = re.compile(r"\s*,\s*")


class PhraseClozes(ABC):
    """Draws clozes from documents."""

    opening_is_target: ClassVar[bool]  # whether the ⁇ that ends a cue is a target

    def __init__(self, prepared: Prepared, settings: PhraseCloze, context: int) -> None:
        """context: the longest sequence a model can read."""
        self.documents = prepared.documents
        self.context = context
        self.space = prepared.vocabulary.encode(" ")  # empty where no document has one
        self.pages = Pages.of(prepared.each_text())
        self.weights = Ragged.gather(phrase_weights(prepared, self.pages, settings), np.dtype(np.float64))

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the phrase and the ⁇ that closes it."""
        drawn = [self.cloze(row, generator) for row in rows]
        sequences = [np.concatenate([cue, [MASK], phrase, [MASK]]) for cue, phrase in drawn]
        return Examples.of_rows(sequences, [len(cue) + (not self.opening_is_target) for cue, _ in drawn])

    @abstractmethod
    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The cue and the phrase of an example from a document; a page without a phrase gives its name and nothing."""


def phrase_weights(prepared: Prepared, pages: Pages, settings: PhraseCloze) -> Iterator[list[float]]:
    """The weights of each page's phrases: the chance of each, in proportion to the others of its page."""
    answers = prepared.training_answers
    frequency = shared_by(phrases_of(text, pages[row]) for row, text in enumerate(prepared.each_text()))

    def weight(phrase: str, joined: bool) -> float:
        if settings.joined is not None and joined:
            return settings.joined
        if settings.answers is not None and phrase in answers:
            return settings.answers
        return settings.lone if frequency[phrase] == 1 else float(frequency[phrase]) ** -settings.rarity

    for row, text in enumerate(prepared.each_text()):
        parts = pages[row]
        yield [weight(*phrase) for phrase in zip(phrases_of(text, parts), joined_by_comma(text, parts), strict=True)]


def phrases_of(text: str, parts: Page) -> list[str]:
    """The phrases of a page."""
    return [text[start:end] for start, end in parts.phrases]


def joined_by_comma(text: str, parts: Page) -> list[bool]:
    """Of each phrase of a page, whether nothing but a comma stands between it and the phrase before it."""
    starts = [start for start, _ in parts.phrases]
    ends = [0, *(end for _, end in parts.phrases)]
    return [bool(end and COMMA.fullmatch(text, end, start)) for end, start in zip(ends, starts, strict=False)]
