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
    starts = generator.integers(1 - context, size - 2, size=len(rows), endpoint=True)
    return windows(documents.tokens, np.maximum(starts, 0), np.minimum(starts + context + 1, size))


def windows(tokens: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Examples:
    """Examples of tokens[start:end] each; starts, ends: (B,) int64, at least two characters apart."""
    position = np.arange((ends - starts).max())[None]  # (1, T + 1) in the sequence
    source = starts[:, None] + position
    inside = source < ends[:, None]
    sequences = np.where(inside, tokens[np.where(inside, source, 0)], PAD)
    return Examples.of(sequences, ends - starts)
