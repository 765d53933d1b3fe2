"""Span corruption as CS224N's assignment 5 describes it: `prefix ⁇ suffix ⁇ masked content`; and causal windows."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.objectives import Mixture, causal_lm, corrupt, span_corruption
from stages.corpus.prepared import Prepared
from stages.corpus.text import PAD_CHARACTER, Ragged, Vocabulary
from stages.settings import Objectives
from tests.support.tiny import DOCUMENTS, HANDOUT, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
TIMES = 3
FIRST = ord("Ā")
OTHER = Objectives(span_corruption=spans(4, 100))


def corrupted(document: str, length: int, start: int, span: int) -> str:
    """`prefix ⁇ suffix ⁇ masked content` of the document's first `length` characters."""
    taken = document[:length]
    prefix, masked, suffix = taken[:start], taken[start : start + span], taken[start + span :]
    return f"{prefix}⁇{suffix}⁇{masked}"


def plain(document: str, generator: np.random.Generator) -> str:
    """Truncate to a length uniform in 4…112, then mask a span uniform in 1…half of that at a uniform start."""
    length = min(int(generator.integers(4, 113)), len(document))
    span = int(generator.integers(1, max(1, length // 2) + 1))
    start = int(generator.integers(0, length - span + 1))
    return corrupted(document, length, start, span)


@pytest.mark.parametrize(
    ("length", "start", "span", "inputs", "targets"),
    [
        (17, 13, 3, "Ada. Born in ⁇.⁇Ul", "da. Born in ⁇.⁇Ulm"),
        (17, 0, 3, "⁇. Born in Ulm.⁇Ad", ". Born in Ulm.⁇Ada"),
        (17, 16, 1, "Ada. Born in Ulm⁇⁇", "da. Born in Ulm⁇⁇."),
        (4, 1, 2, "A⁇.⁇d", "⁇.⁇da"),
        (2, 0, 2, "⁇⁇A", "⁇Ad"),
    ],
)
def test_examples_written_by_hand(length: int, start: int, span: int, inputs: str, targets: str) -> None:
    vocabulary = Vocabulary.of(["Ada. Born in Ulm."])
    documents = Ragged.of([vocabulary.encode("Ada. Born in Ulm.")])
    examples = corrupt(documents, np.array([0]), *(np.array([value]) for value in (length, start, span)))
    assert vocabulary.decode(examples.inputs[0]) == inputs
    assert vocabulary.decode(examples.targets[0]) == targets
    assert examples.lengths.tolist() == [len(inputs)]


def test_the_vectorised_form_equals_the_plain_one_padding_too() -> None:
    vocabulary = Vocabulary.of(DOCUMENTS)
    documents = Ragged.of([vocabulary.encode(document) for document in DOCUMENTS])
    draws = np.random.default_rng(0)
    rows = draws.integers(len(DOCUMENTS), size=500)
    sizes = draws.integers(2, documents.lengths[rows], endpoint=True)
    widths = draws.integers(1, sizes, endpoint=True)
    starts = draws.integers(0, sizes - widths, endpoint=True)
    examples = corrupt(documents, rows, sizes, starts, widths)
    drawn = zip(rows, sizes, starts, widths, strict=True)
    sequences = [corrupted(DOCUMENTS[row], size, start, width) for row, size, start, width in drawn]
    widest = examples.inputs.shape[1] + 1
    tokens = np.stack(
        [vocabulary.encode(sequence.ljust(widest, PAD_CHARACTER)) for sequence in sequences]
    )  # (B, T + 1)
    assert np.array_equal(examples.inputs, tokens[:, :-1])
    assert np.array_equal(examples.targets, tokens[:, 1:])
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_document_shorter_than_the_draw_is_taken_whole(size: int) -> None:
    documents = Ragged.of([np.arange(2, 2 + size)])
    examples = span_corruption(documents, np.zeros(200, np.int64), spans(10, 60), np.random.default_rng(2))
    assert {*examples.lengths} == {size + 1}
    second_masks = [np.flatnonzero(inputs == MASK)[1] for inputs in examples.inputs]
    assert {size + 1 - second for second in second_masks} == set(range(1, max(1, size // 2) + 1))


def facts(sequences: Iterable[str]) -> pd.DataFrame:
    """What was drawn for each `prefix ⁇ suffix ⁇ masked content` of a document whose characters tell their position."""
    rows = []
    for sequence in sequences:
        second = sequence.rindex("⁇")
        rows.append((len(sequence) - 2, len(sequence) - second - 1, ord(sequence[second + 1]) - FIRST))
    return pd.DataFrame(rows, columns=["length", "span", "start"])


def drawn(documents: list[str], objectives: Objectives) -> pd.DataFrame:
    """Draw three examples of each document as training does."""
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    rows = np.repeat(np.arange(len(documents)), TIMES)
    examples = Mixture(prepared, objectives, context=128).draw(rows, np.random.default_rng(1))
    sequences = np.hstack([examples.inputs, np.zeros_like(rows)[:, None]])
    sequences[np.arange(len(rows)), examples.lengths] = examples.targets[np.arange(len(rows)), examples.lengths - 1]
    return facts(prepared.vocabulary.decode(sequence).rstrip("□") for sequence in sequences)


def test_training_draws_as_the_plain_reference_does_and_other_settings_are_caught() -> None:
    # about as many and as long as the handout's: 141 on average, a third under 112; a character tells its position
    lengths = np.random.default_rng(0).lognormal(np.log(132), 0.37, size=2937).round().clip(38, 516).astype(np.int64)
    documents = ["".join(map(chr, range(FIRST, FIRST + length))) for length in lengths]
    draws = np.random.default_rng(1)
    expected = facts(plain(text, draws) for text in documents * TIMES)
    right, wrong = (drawn(documents, objectives) for objectives in (HANDOUT.pretrain.objectives, OTHER))
    for name in expected:
        assert stats.ks_2samp(right[name], expected[name]).pvalue > SIGNIFICANT
    assert stats.ks_2samp(wrong.length, expected.length).pvalue < SIGNIFICANT
    assert stats.ks_2samp(wrong.span, expected.span).pvalue < SIGNIFICANT


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
