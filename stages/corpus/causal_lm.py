"""Causal language modelling: each character from those before it, as the text has them."""

import numpy as np

from stages.corpus.example import PAD, Examples
from stages.corpus.ragged import Ragged
from stages.settings import CausalLM


def causal_lm(
    documents: Ragged, rows: np.ndarray, settings: CausalLM, context: int, generator: np.random.Generator
) -> Examples:
    """One example for each document in `rows` (B,), of at most context + 1 characters, all targets but the first.

    starts `document`: the document from its start, for instance `Ada. Born in Ulm.`. A longer document is cut at its
    end; no shorter truncation is drawn, for every prefix of an example is learned with it.

    starts `anywhere`: the documents are a text that was cut (`reading.cut`), and the example is a window of that
    text at a uniform place, whichever the document. Windows reach beyond both ends of the text and are clipped
    there, so that each character of the text but the first is a target equally often.
    """
    if settings.starts == "document":
        starts = documents.offsets[rows]
        return windows(documents.tokens, starts, np.minimum(starts + context + 1, documents.offsets[rows + 1]))
    size = len(documents.tokens)
    starts = generator.integers(1 - context, size - 2, size=len(rows), endpoint=True)
    return windows(documents.tokens, np.maximum(starts, 0), np.minimum(starts + context + 1, size))


def windows(tokens: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Examples:
    """Examples of tokens[start:end] each; starts, ends: (B,) int64. One of a single character has no target."""
    place = np.arange(max(2, (ends - starts).max()))[None]  # (1, T + 1) in the sequence
    source = starts[:, None] + place
    inside = source < ends[:, None]
    sequences = np.where(inside, tokens[np.where(inside, source, 0)], PAD)
    return Examples.of(sequences, np.maximum(ends - starts, 2))
