"""What pretraining asks of a document: one objective, or several by chance."""

from collections.abc import Callable
from functools import partial

import numpy as np

from stages.corpus.capitalised import practised
from stages.corpus.clozes import TitleClozes, WordClozes
from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import span_corruption
from stages.settings import Objectives

Draw = Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → one example from each document


class Mixture:
    """Draws each document's example from an objective chosen by the objectives' mixture weights."""

    def __init__(self, prepared: Prepared, settings: Objectives, context: int, phrases: Phrases | None = None) -> None:
        """phrases: what clozes ask for, and how likely; None for what the settings say (`practised`)."""
        documents = prepared.documents
        draws: dict[str, Draw] = {}  # by the name of the objective
        if spans := settings.span_corruption:
            draws["span_corruption"] = lambda rows, generator: span_corruption(documents, rows, spans, generator)
        if cloze := settings.title_cloze:
            draws["title_cloze"] = TitleClozes(prepared, phrases or practised(prepared, cloze), cloze, context).draw
        if words := settings.word_cloze:
            draws["word_cloze"] = WordClozes(prepared, phrases or practised(prepared, words), words, context).draw
        if settings.training_questions:
            draws["training_questions"] = partial(training_questions, prepared)
        if settings.causal_lm:
            draws["causal_lm"] = lambda rows, generator: causal_lm(documents, rows, context, generator)
        if settings.pairs:
            draws["pairs"] = lambda rows, _: pairs(prepared, rows)
        self.draws = list(draws.values())
        self.bounds = np.cumsum([getattr(settings, name).mixture_weight for name in draws])[:-1]

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,)."""
        if len(self.draws) == 1:
            return self.draws[0](rows, generator)
        chosen = np.searchsorted(self.bounds, generator.random(len(rows)), side="right")  # (B,) an objective's number
        batches = []
        for number, draw in enumerate(self.draws):
            own = rows[chosen == number]
            if len(own):
                batches.append(draw(own, generator))
        return Examples.join(batches)


def training_questions(prepared: Prepared, rows: np.ndarray, generator: np.random.Generator) -> Examples:
    """As many training questions with their answers as there are rows (B,), whichever documents these are.

    Questions mixed into pretraining make facts of other people's pages extractable (Allen-Zhu & Li 2023, arXiv
    2309.14316).
    """
    questions, answers = prepared.questions["train"], prepared.answers["train"]
    return question_examples(questions, answers, generator.integers(len(questions), size=len(rows)))


def pairs(prepared: Prepared, rows: np.ndarray) -> Examples:
    """Return `NAME ⁇ PLACE ⁇` of the training pairs in `rows` (B,); the place and the closing ⁇ are targets."""
    sequences = [pair(prepared, row) for row in rows]
    return Examples.of_rows(sequences, prepared.questions["train"].lengths[rows] + 1)


def pair(prepared: Prepared, row: int) -> np.ndarray:
    """Return `NAME ⁇ PLACE ⁇` of a training pair, (T,)."""
    return np.concatenate([prepared.questions["train"][row], [MASK], prepared.answers["train"][row], [MASK]])


def causal_lm(documents: Ragged, rows: np.ndarray, context: int, generator: np.random.Generator) -> Examples:
    """One example for each document in `rows` (B,), of at most context + 1 characters, all targets but the first.

    The documents are a text that was cut (`reading.cut`), and an example is a window of that text that starts
    anywhere, whichever the document. Windows reach beyond both ends of the text and are clipped there, so that each
    character of the text but the first is a target equally often.
    """
    size = len(documents.tokens)
    drawn = generator.integers(1 - context, size - 2, size=len(rows), endpoint=True)
    starts, ends = np.maximum(drawn, 0), np.minimum(drawn + context + 1, size)  # (B,) each
    source = starts[:, None] + np.arange((ends - starts).max())  # (B, T + 1)
    inside = source < ends[:, None]
    sequences = np.where(inside, documents.tokens[np.where(inside, source, 0)], PAD)
    return Examples.of(sequences, ends - starts)
