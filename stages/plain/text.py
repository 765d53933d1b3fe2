"""Training examples in strings, one document or question at a time (CS224N assignment 5)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stages.corpus.vocabulary import Vocabulary

PAD, MASK = "□", "⁇"
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


def answered(question: str, place: str) -> str:
    """`question ⁇ answer ⁇`; targets begin with the first ⁇."""
    return question + MASK + place + MASK


def padded(
    sequences: Sequence[str], vocabulary: Vocabulary, context: int, first_targets: Sequence[int] | None = None
) -> tuple[Tensor, Tensor]:
    """Inputs and targets (B, context - 1) int64: the sequence without its last and without its first character.

    first_targets: the place in each sequence before which nothing is a target; by default its second character.
    """
    rows, targets = [], []
    for number, sequence in enumerate(sequences):
        silent = 1 if first_targets is None else first_targets[number]
        rows.append([vocabulary.numbers[character] for character in sequence.ljust(context, PAD)])
        targets.append([vocabulary.numbers[PAD]] * silent + rows[-1][silent:])
    return torch.tensor(rows)[:, :-1], torch.tensor(targets)[:, 1:]
