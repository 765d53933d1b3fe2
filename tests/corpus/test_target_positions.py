"""Where targets stand: counted by hand, and against the exact expectation."""

from dataclasses import replace

import numpy as np
import pytest

from stages.corpus.causal_lm import windows
from stages.corpus.example import MASK, Examples
from stages.corpus.objectives import Mixture
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import corrupt
from stages.corpus.target_positions import target_positions
from stages.settings import Objectives
from tests.tiny import spans, tiny_prepared

GENERATOR = np.random.default_rng(0)


class Fixed:
    """Draws the same examples each time."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        return self.examples


def counted(examples: Examples, context: int = 8, passes: int = 1) -> dict[str, list[int]]:
    return target_positions(Fixed(examples), 1, context, passes, GENERATOR).to_dict("list")


def row(*tokens: int) -> np.ndarray:
    return np.array(tokens)


def test_what_follows_the_second_mask_of_span_corruption_is_masked_content() -> None:
    documents = Ragged.of([np.arange(2, 7)])  # abcde
    examples = corrupt(documents, *(np.array([each]) for each in (0, 5, 1, 2)))  # a⁇de⁇bc
    assert examples.inputs.tolist() == [[2, MASK, 5, 6, MASK, 3]]
    assert counted(examples) == {
        "position": [0, 1, 2, 3, 4, 5, 6, 7],
        "targets": [1, 1, 1, 1, 1, 1, 0, 0],
        "masked_content": [0, 0, 0, 0, 1, 1, 0, 0],
    }


def test_a_closing_mask_is_a_target_and_no_content_however_the_row_is_padded() -> None:
    short, long = row(5, MASK, 6, MASK), row(5, 5, 5, 5, MASK, 6, MASK)
    examples = Examples.of_rows([short, long], [1, 4])
    counts = counted(examples)
    assert counts["targets"] == [1, 1, 1, 1, 1, 1, 0, 0]
    assert counts["masked_content"] == [0, 1, 0, 0, 1, 0, 0, 0]


def test_an_example_without_a_mask_has_no_masked_content() -> None:
    counts = counted(windows(np.arange(2, 6), np.array([0]), np.array([4])), passes=3)
    assert counts["targets"] == [3, 3, 3, 0, 0, 0, 0, 0]
    assert not any(counts["masked_content"])


def test_shares_are_those_of_the_objectives_own_distribution() -> None:
    """Lengths and spans are uniform: the expectation is summed up over all of them."""
    context, shortest, longest, m = 64, 10, 60, 32
    expected = np.zeros((2, 2))  # all, masked content; everywhere, from output m on
    for length in range(shortest, longest + 1):
        for span in range(1, length // 2 + 1):
            chance = 1 / (length // 2)
            for which, first in enumerate((0, length - span + 1)):  # the last output of all is the length-th
                outputs = np.arange(first, length + 1)
                expected[which] += chance * np.array([len(outputs), (outputs >= m).sum()])
    documents = Ragged.of([np.full(longest, 2)] * 400)
    prepared = replace(tiny_prepared(), documents=documents)
    mixture = Mixture(prepared, Objectives(span_corruption=spans(shortest, longest)), context)
    counts = target_positions(mixture, 400, context, 25, np.random.default_rng(1))
    for which, name in enumerate(("targets", "masked_content")):
        share = counts[name][m:].sum() / counts[name].sum()
        assert share == pytest.approx(expected[which, 1] / expected[which, 0], abs=0.015)
