"""The examples that training draws are distributed as those of the plain reference; what is not, is caught."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.corpus.example import MASK, PAD
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.draws import generator
from stages.settings import Objectives
from stages.training.batches import rows_of_step, split_by_length, steps_per_epoch
from tests.invented import DOCUMENTS, lengths
from tests.reference.text import span_corruption
from tests.tiny import HANDOUT, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
EPOCHS, BATCH = 3, 128
FIRST = ord("Ā")


def facts(sequences: Iterable[Sequence[int]]) -> pd.DataFrame:
    """What was drawn for each example: the truncated length, the span's length and start, and the example's inputs.

    sequences: `prefix ⁇ suffix ⁇ masked content` of documents whose characters are numbered from 0, ⁇ being -1.
    """
    found = []
    for sequence in sequences:
        _, second = (position for position, number in enumerate(sequence) if number == -1)
        found.append((len(sequence) - 2, len(sequence) - second - 1, sequence[second + 1], len(sequence) - 1))
    table = pd.DataFrame(found, columns=["length", "span", "start", "inputs"])
    long = table.length > 40  # percent of the longest span allowed, and of the last start possible
    table["span_share"] = (200 * table.span // table.length).where(long, -1)
    table["start_share"] = (100 * table.start // (table.length - table.span)).where(long, -1)
    return table


def fast(documents: list[str], objectives: Objectives = HANDOUT.pretrain.objectives) -> pd.DataFrame:
    """Three epochs, drawn and cut as training does it."""
    tokens = Ragged.of([np.array([ord(character) - FIRST + 2 for character in text]) for text in documents])
    prepared = Prepared(Vocabulary.of([]), tokens, {}, {}, pd.DataFrame())
    mixture = Mixture(prepared, objectives, context=128)
    sequences = []
    for step in range(EPOCHS * steps_per_epoch(len(documents), BATCH)):
        rows = rows_of_step(len(documents), BATCH, seed=1, step=step)
        for part in split_by_length(mixture.draw(rows, generator(1, "pretrain", step))):
            for inputs, targets, length in zip(part.inputs, part.targets, part.lengths, strict=True):
                sequence = [*inputs[:length], targets[length - 1]]
                assert PAD not in sequence
                sequences.append([-1 if number == MASK else int(number) - 2 for number in sequence])
    return facts(sequences)


def agree(one: pd.Series, other: pd.Series) -> bool:
    """Whether two samples can come from one distribution: two-sample Kolmogorov-Smirnov, and chi-square in ten bins."""
    inner = np.unique(np.quantile(other, np.linspace(0.1, 0.9, 9)))
    counts = [np.bincount(np.searchsorted(inner, sample), minlength=len(inner) + 1) for sample in (one, other)]
    tests = [stats.ks_2samp(one, other), stats.chi2_contingency(counts)]
    return all(test.pvalue > SIGNIFICANT for test in tests)


@pytest.fixture(scope="module", name="documents")
def documents_fixture() -> list[str]:
    """As long as the handout's; each character tells its position."""
    drawn = lengths(DOCUMENTS, np.random.default_rng(0))
    return ["".join(map(chr, range(FIRST, FIRST + length))) for length in drawn]


@pytest.fixture(scope="module", name="expected")
def expected_fixture(documents: list[str]) -> pd.DataFrame:
    """As many examples of the plain reference."""
    draws = np.random.default_rng(1)
    texts = [span_corruption(text, draws) for text in documents * EPOCHS]
    return facts([-1 if character == "⁇" else ord(character) - FIRST for character in text] for text in texts)


def test_training_draws_as_the_plain_reference_does(documents: list[str], expected: pd.DataFrame) -> None:
    drawn = fast(documents)
    assert [name for name in expected if not agree(drawn[name], expected[name])] == []


def test_documents_cropped_at_a_random_start_are_caught(documents: list[str], expected: pd.DataFrame) -> None:
    starts = np.random.default_rng(2)
    wrong = fast([text[int(starts.integers(max(0, len(text) - 112) + 1)) :] for text in documents])
    assert agree(wrong.span, expected.span)
    assert not agree(wrong.start, expected.start)


@pytest.mark.parametrize(
    ("settings", "what"), [((4, 108, 0.5), "length"), ((8, 112, 0.5), "length"), ((4, 112, 0.45), "span")]
)
def test_slightly_other_settings_are_caught(
    documents: list[str], expected: pd.DataFrame, settings: tuple[int, int, float], what: str
) -> None:
    wrong = fast(documents, Objectives(span_corruption=spans(*settings)))
    assert not agree(wrong[what], expected[what])


def test_every_document_stands_anywhere_in_an_epoch() -> None:
    steps = steps_per_epoch(DOCUMENTS, BATCH)
    orders = [
        np.concatenate([rows_of_step(DOCUMENTS, BATCH, 1, epoch * steps + step) for step in range(steps)])
        for epoch in range(5)
    ]
    uniform = stats.randint(0, DOCUMENTS).cdf
    for tried, is_random in ((orders, True), ([np.arange(DOCUMENTS)] * 5, False)):
        found = np.concatenate([np.flatnonzero(order < DOCUMENTS // 10) for order in tried])  # the first tenth's
        assert (stats.kstest(found, uniform).pvalue > SIGNIFICANT) == is_random
