"""What clozes of phrases share: a cue, ⁇ and a phrase of the page, drawn by its probability to be an answer."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.settings import PhraseCloze


class PhraseClozes(ABC):
    """Draws clozes from documents.

    In a share `salient` of the examples the phrase is drawn by its probability (salience.py), else any of the page's.
    """

    opening_is_target: ClassVar[bool]  # whether the ⁇ that ends a cue is a target

    def __init__(self, prepared: Prepared, phrases: Phrases, settings: PhraseCloze, context: int) -> None:
        """context: the longest sequence a model can read."""
        self.documents, self.headings = prepared.documents, prepared.headings
        self.spans = phrases.spans
        self.weights = phrases.weights(settings.salient)
        self.settings = settings
        self.context = context
        self.space = prepared.vocabulary.encode(" ")  # empty where no document has one

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the phrase and the ⁇ that closes it."""
        clozes = [self.cloze(row, generator) for row in rows]
        sequences = [np.concatenate([cue, [MASK], phrase, [MASK]]) for cue, phrase in clozes]
        return Examples.of_rows(sequences, [len(cue) + (not self.opening_is_target) for cue, _ in clozes])

    @abstractmethod
    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the cue and the phrase of an example; a page without a phrase gives its name and nothing."""
