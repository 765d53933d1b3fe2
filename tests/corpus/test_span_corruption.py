"""Span corruption as CS224N's assignment 5 describes it: `prefix ⁇ suffix ⁇ masked content`, then PAD."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.corpus.example import MASK
from stages.corpus.objectives import Mixture
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import corrupt, span_corruption
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.draws import generator
from stages.plain.text import corrupted, padded
from stages.plain.text import span_corruption as plain
from stages.settings import Objectives
from stages.training.batches import rows_of_step, split_by_length, steps_per_epoch
from tests.support.invented import DOCUMENTS as SIZE
from tests.support.invented import lengths
from tests.support.tiny import DOCUMENTS, HANDOUT, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
EPOCHS, BATCH = 3, 128
FIRST = ord("Ā")


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
    inputs, targets = padded(sequences, vocabulary, examples.inputs.shape[1] + 1)
    assert np.array_equal(examples.inputs, inputs)
    assert np.array_equal(examples.targets, targets)
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_document_shorter_than_the_draw_is_taken_whole(size: int) -> None:
    documents = Ragged.of([np.arange(2, 2 + size)])
    examples = span_corruption(documents, np.zeros(200, np.int64), spans(10, 60), np.random.default_rng(2))
    assert {*examples.lengths} == {size + 1}
    second_masks = [np.flatnonzero(inputs == MASK)[1] for inputs in examples.inputs]
    assert {size + 1 - second for second in second_masks} == set(range(1, max(1, size // 2) + 1))


def facts(sequences: Iterable[Sequence[int]]) -> pd.DataFrame:
    """What was drawn for each example: the truncated length, the span's length and start.

    sequences: `prefix ⁇ suffix ⁇ masked content` of documents whose characters are numbered from 0, ⁇ being -1.
    """
    rows = []
    for sequence in sequences:
        _, second = (position for position, number in enumerate(sequence) if number == -1)
        rows.append((len(sequence) - 2, len(sequence) - second - 1, sequence[second + 1]))
    table = pd.DataFrame(rows, columns=["length", "span", "start"])
    long = table.length > 40  # percent of the longest span allowed, and of the last start possible
    table["span_share"] = (200 * table.span // table.length).where(long, -1)
    table["start_share"] = (100 * table.start // (table.length - table.span)).where(long, -1)
    return table


def fast(documents: list[str], objectives: Objectives = HANDOUT.pretrain.objectives) -> pd.DataFrame:
    """Three epochs, drawn and cut as training does it."""
    tokens = Ragged.of([np.array([ord(character) - FIRST + 2 for character in text]) for text in documents])
    no_titles, none = np.zeros(len(documents), np.int64), Phrases.alike([()] * len(documents))
    prepared = Prepared(Vocabulary.of([]), tokens, {}, {}, pd.DataFrame(), no_titles, none)
    mixture = Mixture(prepared, objectives, context=128)
    sequences = []
    for step in range(EPOCHS * steps_per_epoch(len(documents), BATCH)):
        rows = rows_of_step(len(documents), BATCH, seed=1, step=step)
        for part in split_by_length(mixture.draw(rows, generator(1, "pretrain", step))):
            for inputs, targets, length in zip(part.inputs, part.targets, part.lengths, strict=True):
                sequence = [*inputs[:length], targets[length - 1]]
                sequences.append([-1 if number == MASK else int(number) - 2 for number in sequence])
    return facts(sequences)


def agree(one: pd.Series, other: pd.Series) -> bool:
    """Whether two samples can come from one distribution: two-sample Kolmogorov-Smirnov, and chi-square in ten bins."""
    inner = np.unique(np.quantile(other, np.linspace(0.1, 0.9, 9)))
    counts = [np.bincount(np.searchsorted(inner, sample), minlength=len(inner) + 1) for sample in (one, other)]
    return min(stats.ks_2samp(one, other).pvalue, stats.chi2_contingency(counts).pvalue) > SIGNIFICANT


def test_training_draws_as_the_plain_reference_does_and_other_settings_are_caught() -> None:
    drawn_lengths = lengths(SIZE, np.random.default_rng(0))  # as long as the handout's; a character tells its position
    documents = ["".join(map(chr, range(FIRST, FIRST + length))) for length in drawn_lengths]
    draws = np.random.default_rng(1)
    texts = [plain(text, draws) for text in documents * EPOCHS]
    expected = facts([-1 if character == "⁇" else ord(character) - FIRST for character in text] for text in texts)
    drawn, wrong = fast(documents), fast(documents, Objectives(span_corruption=spans(4, 100)))
    assert [name for name in expected if not agree(drawn[name], expected[name])] == []
    assert not agree(wrong.length, expected.length) and not agree(wrong.span, expected.span)
