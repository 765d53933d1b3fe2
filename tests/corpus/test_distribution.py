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
    places: list[int]  # of the span's first character in the document
    widths: list[int]  # of the example: inputs that have a character after them


def facts(sequences: Iterable[Sequence[int]]) -> Facts:
    """sequences: `prefix ⁇ suffix ⁇ masked content` of documents whose characters are numbered from 0, ⁇ being -1."""
    found: list[tuple[int, ...]] = []
    for sequence in sequences:
        _, second = (place for place, number in enumerate(sequence) if number == -1)
        found.append((len(sequence) - 2, len(sequence) - second - 1, sequence[second + 1], len(sequence) - 1))
    return Facts(*(list(column) for column in zip(*found, strict=True)))


def corpus() -> list[str]:
    """Documents as long as the handout's in which each character tells its place."""
    return ["".join(chr(FIRST + place) for place in range(length)) for length in lengths(DOCUMENTS, rng(0))]


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
    return corpus()


@pytest.fixture(scope="module", name="drawn")
def drawn_fixture(documents: list[str]) -> Facts:
    return fast(documents)


@pytest.fixture(scope="module", name="expected")
def expected_fixture(documents: list[str]) -> Facts:
    return plain(documents)


def objectives(shortest: int = 4, longest: int = 112, largest_span: float = 0.5) -> Objectives:
    return Objectives(span_corruption=spans(shortest, longest, largest_span))


@pytest.mark.parametrize("what", ["lengths", "spans", "places", "widths"])
def test_training_draws_as_the_plain_reference_does(drawn: Facts, expected: Facts, what: str) -> None:
    assert agree(getattr(drawn, what), getattr(expected, what))


def test_spans_and_places_agree_at_equal_lengths_too(drawn: Facts, expected: Facts) -> None:
    """Not only each for itself: the span's share of the document, and the place's share of the room left."""
    for what in (span_share, place_share):
        assert agree(what(drawn), what(expected))


def span_share(found: Facts) -> list[int]:
    """Percent of the longest span allowed."""
    return [200 * span // length for span, length in zip(found.spans, found.lengths, strict=True) if length > 40]


def place_share(found: Facts) -> list[int]:
    """Percent of the last start possible."""
    rows = zip(found.places, found.spans, found.lengths, strict=True)
    return [100 * place // (length - span) for place, span, length in rows if length > 40]


def test_lengths_are_uniform_where_the_document_does_not_limit_them(drawn: Facts) -> None:
    free = [length for length in drawn.lengths if length < 38]  # the shortest document has 38 characters
    counts = np.bincount(free, minlength=38)[4:]
    assert stats.chisquare(counts).pvalue > SIGNIFICANT


def test_documents_cropped_at_a_random_start_are_caught(documents: list[str], expected: Facts) -> None:
    starts = rng(2)
    cropped = [text[int(starts.integers(max(0, len(text) - 112) + 1)) :] for text in documents]
    wrong = fast(cropped)
    assert agree(wrong.spans, expected.spans)
    assert not agree(wrong.places, expected.places)


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


def places_in_an_epoch(orders: Iterable[np.ndarray]) -> list[int]:
    """Where the first tenth of the corpus stands in each order."""
    return [int(place) for order in orders for place in np.flatnonzero(order < DOCUMENTS // 10)]


def test_every_document_stands_anywhere_in_an_epoch() -> None:
    steps = steps_per_epoch(DOCUMENTS, BATCH)
    orders = [
        np.concatenate([rows_of_step(DOCUMENTS, BATCH, 1, epoch * steps + step) for step in range(steps)])
        for epoch in range(5)
    ]
    uniform = stats.randint(0, DOCUMENTS).cdf
    assert stats.kstest(places_in_an_epoch(orders), uniform).pvalue > SIGNIFICANT
    assert stats.kstest(places_in_an_epoch([np.arange(DOCUMENTS)] * 5), uniform).pvalue < SIGNIFICANT
