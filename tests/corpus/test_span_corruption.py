"""Span corruption as CS224N's assignment 5 describes it: `prefix ⁇ suffix ⁇ masked content`, then PAD."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import corrupt, span_corruption
from stages.corpus.vocabulary import Vocabulary
from tests.reference.text import corrupted, padded
from tests.tiny import DOCUMENTS, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never


def encoded(documents: list[str]) -> tuple[Vocabulary, Ragged]:
    vocabulary = Vocabulary.of(documents)
    return vocabulary, Ragged.of([vocabulary.encode(document) for document in documents])


def distinct(*lengths: int) -> Ragged:
    """Documents in which no character occurs twice: their tokens count up from 2."""
    return Ragged.of([np.arange(2, 2 + length) for length in lengths])


def draws(examples: Examples) -> list[tuple[int, int, int]]:
    """(truncated length, start, span) of each example, read from the sequence itself."""
    found = []
    for inputs, length in zip(examples.inputs, examples.lengths, strict=True):
        first, second = np.flatnonzero(inputs == MASK)[:2]
        found.append((int(length) - 1, int(first), int(length - second)))  # the span's last is no input
    return found


@pytest.mark.parametrize(
    ("document", "length", "start", "span", "inputs", "targets"),
    [
        ("Ada. Born in Ulm.", 17, 13, 3, "Ada. Born in ⁇.⁇Ul", "da. Born in ⁇.⁇Ulm"),
        ("Ada. Born in Ulm.", 17, 0, 3, "⁇. Born in Ulm.⁇Ad", ". Born in Ulm.⁇Ada"),
        ("Ada. Born in Ulm.", 17, 16, 1, "Ada. Born in Ulm⁇⁇", "da. Born in Ulm⁇⁇."),
        ("Ada. Born in Ulm.", 4, 1, 2, "A⁇.⁇d", "⁇.⁇da"),
        ("Ada. Born in Ulm.", 4, 3, 1, "Ada⁇⁇", "da⁇⁇."),
        ("Ada. Born in Ulm.", 2, 0, 2, "⁇⁇A", "⁇Ad"),
    ],
)
def test_examples_written_by_hand(document: str, length: int, start: int, span: int, inputs: str, targets: str) -> None:
    vocabulary, documents = encoded([document])
    examples = corrupt(documents, np.array([0]), *(np.array([value]) for value in (length, start, span)))
    assert vocabulary.decode(examples.inputs[0]) == inputs
    assert vocabulary.decode(examples.targets[0]) == targets
    assert examples.lengths.tolist() == [len(inputs)]


def test_a_shorter_row_ends_in_pad_that_carries_no_loss() -> None:
    vocabulary, documents = encoded(["Ada. Born in Ulm.", "Bo. Here."])
    rows, lengths, starts, widths = (np.array(each) for each in ([1, 0], [9, 17], [4, 13], [4, 3]))
    examples = corrupt(documents, rows, lengths, starts, widths)
    assert [vocabulary.decode(row) for row in examples.inputs] == ["Bo. ⁇.⁇Here□□□□□□□", "Ada. Born in ⁇.⁇Ul"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["o. ⁇.⁇Here□□□□□□□□", "da. Born in ⁇.⁇Ulm"]
    assert examples.lengths.tolist() == [10, 18]


def test_the_vectorised_form_equals_the_plain_one() -> None:
    vocabulary, documents = encoded(DOCUMENTS)
    generator = np.random.default_rng(0)
    rows = generator.integers(len(DOCUMENTS), size=500)
    lengths = generator.integers(2, documents.lengths[rows], endpoint=True)
    widths = generator.integers(1, lengths, endpoint=True)
    starts = generator.integers(0, lengths - widths, endpoint=True)
    examples = corrupt(documents, rows, lengths, starts, widths)
    drawn = zip(rows, lengths, starts, widths, strict=True)
    sequences = [corrupted(DOCUMENTS[row], length, start, width) for row, length, start, width in drawn]
    inputs, targets = padded(sequences, vocabulary, examples.inputs.shape[1] + 1)
    assert np.array_equal(examples.inputs, inputs)
    assert np.array_equal(examples.targets, targets)
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


def test_every_character_of_the_document_is_said_once_and_the_masks_twice() -> None:
    documents = distinct(60, 80, 100)
    rows = np.arange(3).repeat(100)
    examples = span_corruption(documents, rows, spans(4, 100), np.random.default_rng(1))
    for row, inputs, targets, length in zip(rows, examples.inputs, examples.targets, examples.lengths, strict=True):
        sequence = [*inputs[:length], targets[length - 1]]
        truncated = documents[row][: length - 1]
        assert sorted(sequence) == [MASK, MASK, *truncated]
        assert (inputs[length + 1 :] == PAD).all()
        assert (targets[length:] == PAD).all()
        assert (inputs[1:length] == targets[: length - 1]).all()


def test_truncated_lengths_are_uniform() -> None:
    rows = np.zeros(12_000, np.int64)
    examples = span_corruption(distinct(120), rows, spans(4, 43), np.random.default_rng(2))
    counts = Counter(length for length, _, _ in draws(examples))
    assert set(counts) == set(range(4, 44))
    assert stats.chisquare(list(counts.values())).pvalue > SIGNIFICANT


def test_spans_are_uniform_up_to_half_the_document_at_uniform_starts() -> None:
    rows = np.zeros(24_000, np.int64)
    examples = span_corruption(distinct(120), rows, spans(12, 12), np.random.default_rng(3))
    counts = Counter((start, span) for _, start, span in draws(examples))
    places = [(start, span) for span in range(1, 7) for start in range(12 - span + 1)]
    assert set(counts) <= set(places)
    observed = [counts[place] for place in places]
    expected = [len(rows) / 6 / (12 - span + 1) for _, span in places]
    assert stats.chisquare(observed, expected).pvalue > SIGNIFICANT


def test_the_mean_span_is_a_quarter_of_the_document() -> None:
    rows = np.zeros(4000, np.int64)
    found = draws(span_corruption(distinct(120), rows, spans(100, 100), np.random.default_rng(4)))
    assert np.mean([span for _, _, span in found]) == pytest.approx(25.5, abs=1.2)  # five standard errors


def test_a_document_shorter_than_the_draw_is_taken_whole() -> None:
    documents = distinct(120, 9)
    rows = np.array([0, 1] * 200)
    examples = span_corruption(documents, rows, spans(10, 60), np.random.default_rng(5))
    assert {length for length, _, _ in draws(examples)[1::2]} == {9}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_shortest_documents_are_masked_too(length: int) -> None:
    examples = span_corruption(distinct(length), np.zeros(50, np.int64), spans(3, 60), np.random.default_rng(6))
    assert {(whole, span) for whole, _, span in draws(examples)} == {(length, 1)}


def test_equal_generators_draw_equal_examples() -> None:
    _, documents = encoded(DOCUMENTS)
    rows = np.arange(len(DOCUMENTS))
    first, again, other = (
        span_corruption(documents, rows, spans(4, 30), np.random.default_rng(seed)).inputs for seed in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
