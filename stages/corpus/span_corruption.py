"""Span corruption: `prefix ⁇ suffix ⁇ masked content` (CS224N assignment 5, after Raffel et al. 2019)."""

import numpy as np

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.ragged import Ragged
from stages.settings import SpanCorruption

LARGEST_SPAN = 0.5  # share of the truncated document that is masked at most: a quarter on average, as in the assignment


def span_corruption(
    documents: Ragged, rows: np.ndarray, settings: SpanCorruption, generator: np.random.Generator
) -> Examples:
    """Draw one example from each document in `rows` (B,).

    The document is truncated to a length L uniform in shortest_document…longest_document (or its own, if
    shorter); a span of a length uniform in 1…L/2, at a uniform start, is cut out and said at the end.
    For instance `Ada. Born in Ulm.` with the span `Ulm` becomes `Ada. Born in ⁇.⁇Ulm`. Every character but the
    first is a target.
    """
    drawn = generator.integers(settings.shortest_document, settings.longest_document, size=len(rows), endpoint=True)
    lengths = np.minimum(drawn, documents.lengths[rows])
    longest_spans = np.maximum((lengths * LARGEST_SPAN).astype(np.int64), 1)
    spans = generator.integers(1, longest_spans, endpoint=True)
    starts = generator.integers(0, lengths - spans, endpoint=True)
    return corrupt(documents, rows, lengths, starts, spans)


def corrupt(
    documents: Ragged, rows: np.ndarray, lengths: np.ndarray, starts: np.ndarray, spans: np.ndarray
) -> Examples:
    """Mask the given spans of the given documents; all arguments but the first are (B,) int64."""
    lengths, starts, spans = lengths[:, None], starts[:, None], spans[:, None]
    position = np.arange(lengths.max() + 2)[None]  # (1, T + 1) in the sequence
    second_mask = lengths - spans + 1  # the first stands at `starts`
    source = np.where(position < starts, position, position - 1 + spans)  # prefix and suffix: where in the document
    source = np.where(position > second_mask, position - second_mask - 1 + starts, source)  # masked content
    is_mask = (position == starts) | (position == second_mask)
    is_pad = position >= lengths + 2
    source = np.where(is_mask | is_pad, 0, source)
    sequences = documents.tokens[documents.offsets[rows][:, None] + source]
    sequences = np.where(is_mask, MASK, np.where(is_pad, PAD, sequences))
    return Examples.of(sequences, lengths[:, 0] + 2)
