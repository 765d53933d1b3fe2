"""Causal language modelling: each character of a text from those before it."""

import numpy as np

from stages.corpus.example import PAD, Examples
from stages.corpus.ragged import Ragged


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
