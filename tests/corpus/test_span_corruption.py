"""Span corruption as CS224N's assignment 5 describes it: `prefix ⁇ suffix ⁇ masked content`, then PAD."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from stages.corpus.example import MASK, Examples
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import corrupt, span_corruption
from stages.corpus.vocabulary import Vocabulary
from tests.reference.text import corrupted, padded
from tests.tiny import DOCUMENTS, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never


def encoded(documents: list[str]) -> tuple[Vocabulary, Ragged]:
    vocabulary = Vocabulary.of(documents)
    return vocabulary, Ragged.of([vocabulary.encode(document) for document in documents])


def drawn(size: int, draws: int, shortest: int, longest: int) -> list[tuple[int, int, int]]:
    """(truncated length, start, span) of each example drawn from a document of that size."""
    documents = Ragged.of([np.arange(2, 2 + size)])
    examples = span_corruption(documents, np.zeros(draws, np.int64), spans(shortest, longest), np.random.default_rng(2))
    return [shape(*each) for each in zip(examples.inputs, examples.lengths, strict=True)]


def shape(inputs: np.ndarray, length: int) -> tuple[int, int, int]:
    first, second = np.flatnonzero(inputs == MASK)[:2]
    return int(length) - 1, int(first), int(length - second)  # the span's last is no input


@pytest.mark.parametrize(
    ("length", "start", "span", "inputs", "targets"),
    [
        (17, 13, 3, "Ada. Born in ⁇.⁇Ul", "da. Born in ⁇.⁇Ulm"),
        (17, 0, 3, "⁇. Born in Ulm.⁇Ad", ". Born in Ulm.⁇Ada"),
        (17, 16, 1, "Ada. Born in Ulm⁇⁇", "da. Born in Ulm⁇⁇."),
        (4, 1, 2, "A⁇.⁇d", "⁇.⁇da"),
        (4, 3, 1, "Ada⁇⁇", "da⁇⁇."),
        (2, 0, 2, "⁇⁇A", "⁇Ad"),
    ],
)
def test_examples_written_by_hand(length: int, start: int, span: int, inputs: str, targets: str) -> None:
    vocabulary, documents = encoded(["Ada. Born in Ulm."])
    examples = corrupt(documents, np.array([0]), *(np.array([value]) for value in (length, start, span)))
    assert vocabulary.decode(examples.inputs[0]) == inputs
    assert vocabulary.decode(examples.targets[0]) == targets
    assert examples.lengths.tolist() == [len(inputs)]


def test_the_vectorised_form_equals_the_plain_one_padding_too() -> None:
    vocabulary, documents = encoded(DOCUMENTS)
    generator = np.random.default_rng(0)
    rows = generator.integers(len(DOCUMENTS), size=500)
    lengths = generator.integers(2, documents.lengths[rows], endpoint=True)
    widths = generator.integers(1, lengths, endpoint=True)
    starts = generator.integers(0, lengths - widths, endpoint=True)
    examples: Examples = corrupt(documents, rows, lengths, starts, widths)
    drawn = zip(rows, lengths, starts, widths, strict=True)
    sequences = [corrupted(DOCUMENTS[row], length, start, width) for row, length, start, width in drawn]
    inputs, targets = padded(sequences, vocabulary, examples.inputs.shape[1] + 1)
    assert np.array_equal(examples.inputs, inputs)
    assert np.array_equal(examples.targets, targets)
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


def test_truncated_lengths_are_uniform() -> None:
    counts = Counter(length for length, _, _ in drawn(120, 12_000, 4, 43))
    assert set(counts) == set(range(4, 44))
    assert stats.chisquare(list(counts.values())).pvalue > SIGNIFICANT


def test_spans_are_uniform_up_to_half_the_document_at_uniform_starts() -> None:
    counts = Counter((start, span) for _, start, span in drawn(120, 24_000, 12, 12))
    possible = [(start, span) for span in range(1, 7) for start in range(12 - span + 1)]
    assert set(counts) <= set(possible)
    expected = [24_000 / 6 / (12 - span + 1) for _, span in possible]
    assert stats.chisquare([counts[each] for each in possible], expected).pvalue > SIGNIFICANT


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_document_shorter_than_the_draw_is_taken_whole(size: int) -> None:
    found = drawn(size, 200, 10, 60)
    assert {length for length, _, _ in found} == {size}
    assert {span for _, _, span in found} == set(range(1, max(1, size // 2) + 1))
