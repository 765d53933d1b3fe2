"""Training examples as strings: span corruption of one document (CS224N assignment 5), and a batch of sequences."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stages.corpus.vocabulary import MASK, PAD, Vocabulary

SHORTEST, LONGEST = 4, 112  # characters that a document is truncated to


def corrupted(document: str, length: int, start: int, span: int) -> str:
    """`prefix ⁇ suffix ⁇ masked content` of the document's first `length` characters."""
    taken = document[:length]
    prefix, masked, suffix = taken[:start], taken[start : start + span], taken[start + span :]
    return prefix + MASK + suffix + MASK + masked


def span_corruption(
    document: str, generator: np.random.Generator, shortest: int = SHORTEST, longest: int = LONGEST
) -> str:
    """Truncate to a length uniform in 4…112, then mask a span uniform in 1…half of that at a uniform start."""
    length = min(int(generator.integers(shortest, longest + 1)), len(document))
    span = int(generator.integers(1, max(1, length // 2) + 1))
    start = int(generator.integers(0, length - span + 1))
    return corrupted(document, length, start, span)


def padded(sequences: Sequence[str], vocabulary: Vocabulary, context: int) -> tuple[Tensor, Tensor]:
    """Make inputs and targets (B, context - 1) int64: sequences without their last and their first character."""
    rows = [vocabulary.encode(text.ljust(context, PAD)) for text in sequences]
    tokens = torch.from_numpy(np.stack(rows))  # (B, context)
    return tokens[:, :-1], tokens[:, 1:]
