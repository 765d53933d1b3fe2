"""Causal language modelling: windows anywhere in a text, every character but the first a target equally often."""

import numpy as np
import pytest
from scipy import stats

from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import causal_lm
from stages.corpus.text import Ragged

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never


def counting(size: int, context: int) -> Ragged:
    """A text whose characters count up from 2, cut into documents of the context's length."""
    return Ragged.of([np.arange(2 + start, 2 + min(start + context, size)) for start in range(0, size, context)])


def sequences(examples: Examples) -> list[list[int]]:
    """What each example reads and says, without PAD."""
    return [
        [*inputs[:length], targets[length - 1]]
        for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True)
    ]


@pytest.mark.parametrize("size", [300, 2, 17, 18])
def test_windows_are_parts_of_the_text_in_its_order_as_long_as_can_be(size: int) -> None:
    context, documents = 16, counting(size, 16)
    rows = np.arange(500) % len(documents)
    for sequence in sequences(causal_lm(documents, rows, context, np.random.default_rng(0))):
        first, last = sequence[0], sequence[-1]
        assert sequence == [*range(first, last + 1)]
        assert 2 <= first < last <= size + 1
        at_an_end = first == 2 or last == size + 1
        assert len(sequence) == context + 1 or (len(sequence) <= context + 1 and at_an_end)


def test_windows_start_uniformly_and_every_character_but_the_first_is_a_target_equally_often() -> None:
    size, context, draws = 75, 16, 40_000  # the last document is short
    documents = counting(size, context)
    examples = causal_lm(documents, np.arange(draws) % len(documents), context, np.random.default_rng(0))
    starts = np.bincount([sequence[0] - 2 for sequence in sequences(examples)], minlength=size)
    # those that would begin before the text are clipped to its start
    expected = np.array([context, *[1] * (size - 2)]) / (context + size - 2) * draws
    assert stats.chisquare(starts[: size - 1], expected).pvalue > SIGNIFICANT
    targets = np.bincount(examples.targets[examples.targets != PAD], minlength=size + 2)[2:]
    assert targets[0] == 0
    assert targets[1:] == pytest.approx(targets[1:].mean(), rel=0.05)
