"""What pretraining asks of a document: one objective, or several by chance."""

import numpy as np

from stages.corpus.example import Examples
from stages.corpus.prepared import Prepared
from stages.corpus.span_corruption import span_corruption
from stages.corpus.title_cloze import TitleClozes
from stages.settings import Objectives


class Mixture:
    """Draws each document's example from an objective chosen by the objectives' shares."""

    def __init__(self, prepared: Prepared, settings: Objectives, context: int) -> None:
        self.documents = prepared.documents
        self.settings = settings
        cloze = settings.title_cloze
        self.clozes = None if cloze is None else TitleClozes(prepared.documents, prepared.vocabulary, cloze, context)

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,)."""
        spans = self.settings.span_corruption
        if self.clozes is None:
            return span_corruption(self.documents, rows, spans, generator)
        is_span = generator.random(len(rows)) < spans.share
        batches = []
        if is_span.any():
            batches.append(span_corruption(self.documents, rows[is_span], spans, generator))
        if not is_span.all():
            batches.append(self.clozes.draw(rows[~is_span], generator))
        return Examples.join(batches)
