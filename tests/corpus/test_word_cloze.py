"""Word clozes: which words a cue is made of, in which order, and what is asked."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from stages.corpus.example import PAD
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.word_cloze import WordClozes, common_words
from tests.tiny import WORD_CLOZE

PAGE = "Oda Quill. She was born in 1815 in Vell and lived there ."
NAME = "Oda Quill"


def drawn(pages: list[str], train: tuple[Question, ...] = (), draws: int = 600, **settings: object) -> list[list[str]]:
    """The cue's pieces with <name> for the name, and after them what is to be said, of so many examples."""
    prepared = Prepared.of(pages, {"train": list(train), "dev": [], "test": []})
    clozes = WordClozes(prepared, WORD_CLOZE.model_copy(update=settings), 64)
    examples = clozes.draw(np.arange(draws) % len(pages), np.random.default_rng(0))
    found = []
    for row, (inputs, targets) in enumerate(zip(examples.inputs, examples.targets, strict=True)):
        name = pages[row % len(pages)].partition(".")[0]
        cue, _, _ = prepared.vocabulary.decode(inputs).partition("⁇")
        assert cue.count(name) == 1
        found.append([*cue.replace(name, "<name>").split(" "), prepared.vocabulary.decode(targets[targets != PAD])])
    return found


def words_by_phrase(examples: list[list[str]]) -> dict[str, set[str]]:
    """The words that cues of each phrase were made of."""
    seen: dict[str, set[str]] = defaultdict(set)
    for *pieces, said in examples:
        seen[said.removesuffix("⁇")] |= {*pieces} - {"<name>"}
    return seen


def test_the_cue_is_the_name_among_words_from_around_the_phrase() -> None:
    found = [pieces for *pieces, said in drawn([PAGE]) if said == "Vell⁇"]
    assert len(found) > 50
    for pieces in found:
        assert Counter(pieces) - Counter(["<name>", "in", "1815", "in", "and", "lived"]) == Counter()
    assert {len(pieces) for pieces in found} == {1, 2, 3}
    assert {piece for pieces in found for piece in pieces} == {"<name>", "in", "1815", "and", "lived"}
    assert {pieces.index("<name>") for pieces in found} == {0, 1, 2}


@pytest.mark.parametrize("in_order", [0.0, 1.0])
def test_words_stand_in_the_pages_order_or_in_any(in_order: float) -> None:
    order = ["1815", "and", "lived"]
    found = [pieces for *pieces, said in drawn([PAGE], in_order=in_order) if said == "Vell⁇"]
    pairs = [[order.index(piece) for piece in pieces if piece in order] for pieces in found]
    assert all(pair == sorted(pair) for pair in pairs) == bool(in_order)


def test_every_phrase_is_asked_for_with_words_from_around_it_and_closed_by_a_mask() -> None:
    found = drawn(["Oda Quill. Born in Vell , she left Ilm for Urr ."])
    assert {said for *_, said in found} == {"Born⁇", "Vell⁇", "Ilm⁇", "Urr⁇"}
    assert words_by_phrase(found) == {
        "Born": {"in", "Vell"},
        "Vell": {"Born", "in", "she", "left"},
        "Ilm": {"Vell", "she", "left", "for", "Urr"},
        "Urr": {"left", "Ilm", "for"},
    }


def test_cues_are_of_words_that_most_pages_have() -> None:
    pages = [PAGE, "Ida Rook. She lived in Vell and Ilm .", "Udo Fenn. He was in Vell ."]
    common = {"in", "Vell", "She", "and"}  # of those in two pages, capitals stand first
    assert common_words(pages, 4) == common
    assert set.union(*words_by_phrase(drawn(pages, common_words=4, most_words=3)).values()) == common


def test_words_of_a_name_are_not_counted_and_a_page_counts_once() -> None:
    assert common_words(["Oda Oda. b b b a .", "Oda. a ."], 1) == {"a"}
    assert common_words(["Oda. b a .", "Oda. c ."], None) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("past_answers", "expected"),
    [
        (False, {"Vell": {"Born", "in", "Ilm", "by"}, "Ilm": {"by", "Urr"}, "Urr": {"Ilm", "by", "and", "there"}}),
        (True, {"Vell": {"Born", "in", "Ilm", "by"}, "Ilm": {"Born", "in", "Vell", "by", "Urr"}}),
    ],
)
def test_words_beyond_a_training_answer_are_in_no_cue_unless_asked_for(
    past_answers: bool, expected: dict[str, set[str]]
) -> None:
    train = (Question(1, "Where was Ada born?", "Ada", "Vell"),)
    found = words_by_phrase(
        drawn(["Oda Quill. Born in Vell , Ilm by Urr and there ."], train, past_answers=past_answers)
    )
    assert {phrase: found[phrase] for phrase in expected} == expected


def test_a_page_without_a_name_has_a_word_in_each_cue_and_one_without_words_gives_its_name_alone() -> None:
    prepared = Prepared.of(["in Vell , Ilm", "1900.", "Oda. 1900."], {"train": [], "dev": [], "test": []})
    clozes = WordClozes(prepared, WORD_CLOZE, 64)
    for row, alone in enumerate((None, "⁇", "Oda⁇")):
        examples = clozes.draw(np.full(100, row), np.random.default_rng(0))
        read = {prepared.vocabulary.decode(inputs).rstrip("□") for inputs in examples.inputs}
        assert read == {alone} if alone else all(cue.partition("⁇")[0].strip() for cue in read)
