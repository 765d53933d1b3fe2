"""What pretraining asks of a document: one objective, or several by chance."""

from collections.abc import Callable
from functools import partial

import numpy as np

from stages.corpus.causal_lm import causal_lm
from stages.corpus.example import Examples
from stages.corpus.page import Pages
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.ragged import Ragged
from stages.corpus.salience import phrase_chances
from stages.corpus.span_corruption import span_corruption
from stages.corpus.title_cloze import TitleClozes
from stages.corpus.word_cloze import WordClozes
from stages.settings import Objectives

Draw = Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → one example from each document


class Mixture:
    """Draws each document's example from an objective chosen by the objectives' mixture weights."""

    def __init__(self, prepared: Prepared, settings: Objectives, context: int) -> None:
        documents = prepared.documents
        self.draws: list[Draw] = []
        weights = []
        if spans := settings.span_corruption:
            self.draws.append(lambda rows, generator: span_corruption(documents, rows, spans, generator))
            weights.append(spans.mixture_weight)
        if settings.title_cloze or settings.word_cloze:
            pages = Pages.of(prepared.each_text())
            chances = Ragged.gather(phrase_chances(prepared, pages), np.dtype(np.float64))
            if cloze := settings.title_cloze:
                self.draws.append(TitleClozes(prepared, pages, chances, cloze, context).draw)
                weights.append(cloze.mixture_weight)
            if words := settings.word_cloze:
                self.draws.append(WordClozes(prepared, pages, chances, words, context).draw)
                weights.append(words.mixture_weight)
        if asked := settings.training_questions:
            self.draws.append(partial(training_questions, prepared))
            weights.append(asked.mixture_weight)
        if causal := settings.causal_lm:
            self.draws.append(lambda rows, generator: causal_lm(documents, rows, context, generator))
            weights.append(causal.mixture_weight)
        self.bounds = np.cumsum(weights)[:-1]

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,)."""
        if len(self.draws) == 1:
            return self.draws[0](rows, generator)
        chosen = np.searchsorted(self.bounds, generator.random(len(rows)), side="right")
        batches = [
            draw(rows[chosen == number], generator)
            for number, draw in enumerate(self.draws)
            if (chosen == number).any()
        ]
        return Examples.join(batches)


def training_questions(prepared: Prepared, rows: np.ndarray, generator: np.random.Generator) -> Examples:
    """As many training questions with their answers as there are rows (B,), whichever documents these are.

    Questions mixed into pretraining make facts of other people's pages extractable (Allen-Zhu & Li 2023, arXiv
    2309.14316).
    """
    questions, answers = prepared.questions["train"], prepared.answers["train"]
    return question_examples(questions, answers, generator.integers(len(questions), size=len(rows)))
