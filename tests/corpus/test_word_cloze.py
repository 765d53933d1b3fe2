"""Word clozes: which words a cue is made of, in which order, and what is asked."""

from collections import Counter

import numpy as np
import pytest

from stages.corpus.example import MASK, PAD
from stages.corpus.prepared import Prepared
from stages.corpus.word_cloze import WordClozes
from stages.settings import WordCloze

PLAIN = WordCloze(share=1.0, words_before=3, words_after=2, most_words=2, in_order=0.0)
PAGE = "Oda Quill. She was born in 1815 in Vell and lived there ."
NAME = "Oda Quill"


def clozes(documents: list[str], settings: WordCloze, context: int = 64) -> tuple[Prepared, WordClozes]:
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    return prepared, WordClozes(prepared.documents, prepared.vocabulary, settings, context)


def drawn(settings: WordCloze, draws: int = 400) -> list[tuple[list[str], str]]:
    """The cue's pieces around the name, and the answer, of examples whose phrase is Vell."""
    prepared, objective = clozes([PAGE], settings)
    examples = objective.draw(np.zeros(draws, dtype=np.int64), np.random.default_rng(0))
    found = []
    for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True):
        cue, _, _ = prepared.vocabulary.decode(inputs[:length]).partition("⁇")
        assert cue.count(NAME) == 1
        pieces = cue.replace(NAME, "<name>").split(" ")
        answer = prepared.vocabulary.decode(targets[targets != PAD])
        if answer == "⁇Vell⁇":
            found.append((pieces, answer))
    return found


def test_the_cue_is_the_name_among_words_from_around_the_phrase() -> None:
    found = drawn(PLAIN)
    assert len(found) > 50
    for pieces, _ in found:
        assert Counter(pieces) - Counter(["<name>", "in", "1815", "in", "and", "lived"]) == Counter()
        assert len(pieces) <= 1 + PLAIN.most_words
    assert {len(pieces) for pieces, _ in found} == {1, 2, 3}
    assert {piece for pieces, _ in found for piece in pieces} == {"<name>", "in", "1815", "and", "lived"}
    assert {pieces.index("<name>") for pieces, _ in found} == {0, 1, 2}


@pytest.mark.parametrize("in_order", [0.0, 1.0])
def test_words_stand_in_the_pages_order_or_in_any(in_order: float) -> None:
    order = ["1815", "and", "lived"]
    found = drawn(PLAIN.model_copy(update={"in_order": in_order}))
    pairs = [[order.index(piece) for piece in pieces if piece in order] for pieces, _ in found]
    sorted_pairs = [pair == sorted(pair) for pair in pairs if len(pair) == 2]
    assert all(sorted_pairs) == bool(in_order)


def test_every_phrase_is_asked_for() -> None:
    prepared, objective = clozes(["Oda Quill. Born in Vell , she left Ilm for Urr ."], PLAIN)
    examples = objective.draw(np.zeros(200, dtype=np.int64), np.random.default_rng(0))
    asked = {prepared.vocabulary.decode(targets[targets != PAD]) for targets in examples.targets}
    assert asked == {"⁇Born⁇", "⁇Vell⁇", "⁇Ilm⁇", "⁇Urr⁇"}


def test_targets_begin_with_the_mask_before_the_phrase() -> None:
    _, objective = clozes([PAGE], PLAIN)
    examples = objective.draw(np.zeros(50, dtype=np.int64), np.random.default_rng(0))
    for inputs, targets in zip(examples.inputs, examples.targets, strict=True):
        first = int(np.flatnonzero(targets != PAD)[0])
        assert targets[first] == MASK
        assert inputs[first + 1] == MASK
        assert (inputs[: first + 1] != MASK).all()


@pytest.mark.parametrize("context", [16, 24, 40])
def test_examples_fit_the_context(context: int) -> None:
    documents = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    _, objective = clozes(documents, PLAIN.model_copy(update={"most_words": 9, "words_before": 9}), context)
    for seed in range(30):
        examples = objective.draw(np.array([0, 1]), np.random.default_rng(seed))
        assert examples.lengths.max() <= context


def test_a_page_without_words_gives_its_name_alone() -> None:
    prepared, objective = clozes(["Oda. 1900.", "1900.", PAGE], PLAIN)
    examples = objective.draw(np.array([1]), np.random.default_rng(0))
    assert prepared.vocabulary.decode(examples.inputs[0, : examples.lengths[0]]) == "⁇"
