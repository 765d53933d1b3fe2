"""Causal language modelling: a page from its start, or a window anywhere in a text; every character but the first."""

import numpy as np
import pytest
from scipy import stats

from stages.corpus.causal_lm import causal_lm, windows
from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.settings import CausalLM, Objectives
from stages.sources.reading import cut
from tests.tiny import TITLE_CLOZE, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
PAGE = CausalLM(mixture_weight=1.0, starts="document")
ANYWHERE = CausalLM(mixture_weight=1.0, starts="anywhere")


def encoded(documents: list[str]) -> tuple[Vocabulary, Ragged]:
    vocabulary = Vocabulary.of(documents)
    return vocabulary, Ragged.of([vocabulary.encode(document) for document in documents])


def sequences(examples: Examples) -> list[list[int]]:
    """What each example reads and says, without PAD."""
    return [
        [*inputs[:length], *targets[length - 1 : length]]
        for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True)
    ]


def draw(documents: Ragged, rows: int, settings: CausalLM, context: int, seed: int = 0) -> Examples:
    chosen = np.arange(rows) % len(documents)
    return causal_lm(documents, chosen, settings, context, np.random.default_rng(seed))


def test_golden_examples_of_pages() -> None:
    vocabulary, documents = encoded(["Ada. Born in Ulm.", "Bo. Here."])
    examples = causal_lm(documents, np.array([1, 0]), PAGE, 16, np.random.default_rng(0))
    # a context of 16 reads 16 characters, and the 17th is the last target
    assert [vocabulary.decode(row) for row in examples.inputs] == ["Bo. Here.□□□□□□□", "Ada. Born in Ulm"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["o. Here.□□□□□□□□", "da. Born in Ulm."]
    assert examples.lengths.tolist() == [8, 16]


def test_golden_windows_of_a_text() -> None:
    vocabulary, documents = encoded(cut("The cat sat.\nThe end", 8))
    examples = windows(documents.tokens, np.array([0, 4, 18]), np.array([2, 13, 20]))
    assert [vocabulary.decode(row) for row in examples.inputs] == ["Th□□□□□□", "cat sat.", "nd□□□□□□"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["h□□□□□□□", "at sat.\n", "d□□□□□□□"]
    assert examples.lengths.tolist() == [1, 8, 1]


def test_a_long_page_is_cut_at_its_end_and_never_runs_into_the_next() -> None:
    documents = Ragged.of([np.arange(2, 60), np.arange(60, 90), np.arange(90, 200)])
    found = sequences(causal_lm(documents, np.array([0, 1, 2]), PAGE, 40, np.random.default_rng(0)))
    assert found == [[*range(2, 43)], [*range(60, 90)], [*range(90, 131)]]


def test_the_draws_do_not_matter_where_pages_start() -> None:
    _, documents = encoded(["Ada. Born in Ulm.", "Bo. Here."])
    assert np.array_equal(draw(documents, 2, PAGE, 16, seed=1).inputs, draw(documents, 2, PAGE, 16, seed=2).inputs)


@pytest.mark.parametrize(("size", "context"), [(300, 16), (5, 16), (2, 16), (17, 16), (18, 16)])
def test_windows_are_parts_of_the_text_in_its_order_as_long_as_can_be(size: int, context: int) -> None:
    documents = Ragged.of([np.arange(2 + start, 2 + min(start + context, size)) for start in range(0, size, context)])
    for sequence in sequences(draw(documents, 500, ANYWHERE, context)):
        first, last = sequence[0], sequence[-1]
        assert sequence == [*range(first, last + 1)]
        assert 2 <= first < last <= size + 1
        at_an_end = first == 2 or last == size + 1
        assert len(sequence) == context + 1 or (len(sequence) <= context + 1 and at_an_end)


def test_every_character_of_a_text_but_the_first_is_a_target_equally_often() -> None:
    size, context, rows = 75, 16, 40_000  # the last document is short
    documents = Ragged.of([np.arange(2 + start, 2 + min(start + context, size)) for start in range(0, size, context)])
    examples = draw(documents, rows, ANYWHERE, context)
    assert (examples.targets != PAD).sum(axis=1).max() == context
    # windows overlap, so counts within one are not independent: one target of each is counted, at a random place
    place = np.random.default_rng(1).integers(context, size=rows)
    counted = examples.targets[np.arange(rows), place]
    counts = np.bincount(counted[counted != PAD], minlength=size + 2)[2:]
    assert counts[0] == 0
    everywhere = np.bincount(examples.targets.ravel(), minlength=size + 2)[3:]
    assert everywhere.min() > 0.95 * everywhere.mean()
    assert everywhere.max() < 1.05 * everywhere.mean()


def test_windows_start_uniformly() -> None:
    size, context = 60, 16
    examples = draw(Ragged.of([np.arange(2, 2 + size)]), 30_000, ANYWHERE, context)
    starts = np.array([sequence[0] - 2 for sequence in sequences(examples)])
    counts = np.bincount(starts, minlength=size)
    assert counts[size - 1 :].sum() == 0
    # those that would begin before the text are clipped to its start
    expected = np.array([context, *[1] * (size - 2)]) / (context + size - 2) * len(starts)
    assert stats.chisquare(counts[: size - 1], expected).pvalue > SIGNIFICANT


def test_a_document_of_one_character_has_no_target() -> None:
    vocabulary, documents = encoded(["A", "Bo"])
    examples = causal_lm(documents, np.array([0, 1]), PAGE, 16, np.random.default_rng(0))
    assert [vocabulary.decode(row) for row in examples.inputs] == ["A", "B"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["□", "o"]
    assert examples.lengths.tolist() == [1, 1]


def test_a_mixture_draws_three_objectives_by_their_shares() -> None:
    prepared = Prepared.of(["Oda Quill. born in Vell ."] * 4, {"train": [], "dev": [], "test": []})
    objectives = Objectives(
        span_corruption=spans(25, 25).model_copy(update={"mixture_weight": 0.2}),
        title_cloze=TITLE_CLOZE.model_copy(update={"mixture_weight": 0.5}),
        causal_lm=PAGE.model_copy(update={"mixture_weight": 0.3}),
    )
    examples = Mixture(prepared, objectives, context=64).draw(np.zeros(6000, np.int64), np.random.default_rng(1))
    texts = [prepared.vocabulary.decode(sequence) for sequence in sequences(examples)]
    kinds = [text == "Oda Quill. born in Vell ." for text in texts], [text.endswith("⁇Vell⁇") for text in texts]
    assert np.mean(kinds, axis=1) == pytest.approx([0.3, 0.5], abs=0.03)
    assert len(texts) == 6000


def test_causal_lm_alone_is_drawn_as_it_is() -> None:
    prepared = Prepared.of(["Oda Quill. born in Vell ."] * 4, {"train": [], "dev": [], "test": []})
    mixture = Mixture(prepared, Objectives(causal_lm=PAGE), context=16)
    examples = mixture.draw(np.array([0, 3]), np.random.default_rng(0))
    assert [prepared.vocabulary.decode(sequence) for sequence in sequences(examples)] == ["Oda Quill. born i"] * 2
