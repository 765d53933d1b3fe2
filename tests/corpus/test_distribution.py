"""The examples that training draws are distributed as those of the plain reference; what is not, is caught."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Facts:
    """What was drawn for each example, read from the examples themselves; each (examples,)."""

    lengths: list[int]  # of the truncated document
    spans: list[int]  # of the masked content
    starts: list[int]  # of the span in the document
    widths: list[int]  # of the example: inputs that have a character after them


def facts(sequences: Iterable[Sequence[int]]) -> Facts:
    """sequences: `prefix ⁇ suffix ⁇ masked content` of documents whose characters are numbered from 0, ⁇ being -1."""
    found: list[tuple[int, ...]] = []
    for sequence in sequences:
        _, second = (position for position, number in enumerate(sequence) if number == -1)
        found.append((len(sequence) - 2, len(sequence) - second - 1, sequence[second + 1], len(sequence) - 1))
    return Facts(*(list(column) for column in zip(*found, strict=True)))


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def fast(documents: list[str], objectives: Objectives = HANDOUT.pretrain.objectives) -> Facts:
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


def plain(documents: list[str], seed: int = 1) -> Facts:
    """As many examples of the plain reference."""
    draws = rng(seed)
    texts = [span_corruption(text, draws) for text in documents * EPOCHS]
    return facts([-1 if character == "⁇" else ord(character) - FIRST for character in text] for text in texts)


def agree(one: list[int], other: list[int]) -> bool:
    """Whether two samples can come from one distribution: two-sample Kolmogorov-Smirnov, and chi-square in ten bins."""
    inner = np.unique(np.quantile(other, np.linspace(0.1, 0.9, 9)))
    counts = [np.bincount(np.searchsorted(inner, sample), minlength=len(inner) + 1) for sample in (one, other)]
    tests = [stats.ks_2samp(one, other), stats.chi2_contingency(counts)]
    return all(test.pvalue > SIGNIFICANT for test in tests)


@pytest.fixture(scope="module", name="documents")
def documents_fixture() -> list[str]:
    """As long as the handout's; each character tells its position."""
    return ["".join(map(chr, range(FIRST, FIRST + length))) for length in lengths(DOCUMENTS, rng(0))]


@pytest.fixture(scope="module", name="expected")
def expected_fixture(documents: list[str]) -> Facts:
    return plain(documents)


def objectives(shortest: int = 4, longest: int = 112, largest_span: float = 0.5) -> Objectives:
    return Objectives(span_corruption=spans(shortest, longest, largest_span))


def test_training_draws_as_the_plain_reference_does(documents: list[str], expected: Facts) -> None:
    drawn = fast(documents)
    for what in ("lengths", "spans", "starts", "widths"):
        assert agree(getattr(drawn, what), getattr(expected, what))
    for share in (span_share, start_share):  # at equal lengths, too
        assert agree(share(drawn), share(expected))


def span_share(found: Facts) -> list[int]:
    """Percent of the longest span allowed."""
    return [200 * span // length for span, length in zip(found.spans, found.lengths, strict=True) if length > 40]


def start_share(found: Facts) -> list[int]:
    """Percent of the last start possible."""
    rows = zip(found.starts, found.spans, found.lengths, strict=True)
    return [100 * start // (length - span) for start, span, length in rows if length > 40]


def test_documents_cropped_at_a_random_start_are_caught(documents: list[str], expected: Facts) -> None:
    starts = rng(2)
    cropped = [text[int(starts.integers(max(0, len(text) - 112) + 1)) :] for text in documents]
    wrong = fast(cropped)
    assert agree(wrong.spans, expected.spans)
    assert not agree(wrong.starts, expected.starts)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (objectives(longest=108), "lengths"),
        (objectives(shortest=8), "lengths"),
        (objectives(largest_span=0.45), "spans"),
    ],
)
def test_slightly_other_settings_are_caught(
    documents: list[str], expected: Facts, settings: Objectives, what: str
) -> None:
    assert not agree(getattr(fast(documents, settings), what), getattr(expected, what))


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
