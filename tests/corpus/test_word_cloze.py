"""Word clozes: which words a cue is made of, in which order, and what is asked."""

from collections import Counter

import numpy as np
import pytest

from stages.corpus.example import PAD
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.word_cloze import WordClozes, common_words
from stages.settings import WordCloze
from tests.tiny import WORD_CLOZE

PAGE = "Oda Quill. She was born in 1815 in Vell and lived there ."
NAME = "Oda Quill"
MANY = "Oda Quill. Born in Vell , she left Ilm for Urr ."


def clozes(documents: list[str], settings: WordCloze, context: int = 64) -> tuple[Prepared, WordClozes]:
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    return prepared, WordClozes(prepared, settings, context)


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
        if answer == "Vell⁇":
            found.append((pieces, answer))
    return found


def test_the_cue_is_the_name_among_words_from_around_the_phrase() -> None:
    found = drawn(WORD_CLOZE)
    assert len(found) > 50
    for pieces, _ in found:
        assert Counter(pieces) - Counter(["<name>", "in", "1815", "in", "and", "lived"]) == Counter()
        assert len(pieces) <= 1 + WORD_CLOZE.most_words
    assert {len(pieces) for pieces, _ in found} == {1, 2, 3}
    assert {piece for pieces, _ in found for piece in pieces} == {"<name>", "in", "1815", "and", "lived"}
    assert {pieces.index("<name>") for pieces, _ in found} == {0, 1, 2}


@pytest.mark.parametrize("in_order", [0.0, 1.0])
def test_words_stand_in_the_pages_order_or_in_any(in_order: float) -> None:
    order = ["1815", "and", "lived"]
    found = drawn(WORD_CLOZE.model_copy(update={"in_order": in_order}))
    pairs = [[order.index(piece) for piece in pieces if piece in order] for pieces, _ in found]
    sorted_pairs = [pair == sorted(pair) for pair in pairs if len(pair) == 2]
    assert all(sorted_pairs) == bool(in_order)


def test_every_phrase_is_asked_for() -> None:
    prepared, objective = clozes([MANY], WORD_CLOZE)
    examples = objective.draw(np.zeros(200, dtype=np.int64), np.random.default_rng(0))
    asked = {prepared.vocabulary.decode(targets[targets != PAD]) for targets in examples.targets}
    assert asked == {"Born⁇", "Vell⁇", "Ilm⁇", "Urr⁇"}


@pytest.mark.parametrize("most_phrases", [1, 2, 3, 9])
def test_targets_are_the_phrases_with_the_masks_that_close_them(most_phrases: int) -> None:
    prepared, objective = clozes([MANY], WORD_CLOZE.model_copy(update={"most_phrases": most_phrases}), context=128)
    examples = objective.draw(np.zeros(50, dtype=np.int64), np.random.default_rng(0))
    for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True):
        shown = prepared.vocabulary.decode(np.append(inputs[:length], targets[length - 1]))
        cues, phrases = shown.split("⁇")[0:-1:2], shown.split("⁇")[1::2]
        assert len(phrases) == min(most_phrases, 4) == len(set(phrases))
        assert set(phrases) <= {"Born", "Vell", "Ilm", "Urr"}
        assert prepared.vocabulary.decode(targets[targets != PAD]) == "".join(f"{phrase}⁇" for phrase in phrases)
        assert [cue.count(NAME) for cue in cues] == [1] + [0] * (len(cues) - 1)
        assert all(len(cue.replace(NAME, "name").split()) <= WORD_CLOZE.most_words + 1 for cue in cues)


def test_only_the_first_cue_may_have_no_word() -> None:
    prepared, objective = clozes([MANY], WORD_CLOZE.model_copy(update={"most_phrases": 9}), context=128)
    examples = objective.draw(np.zeros(200, dtype=np.int64), np.random.default_rng(0))
    cues = [
        prepared.vocabulary.decode(row[:length]).split("⁇")[::2]
        for row, length in zip(examples.inputs, examples.lengths, strict=True)
    ]
    assert any(first == NAME for first, *_ in cues)
    assert all(cue for _, *others in cues for cue in others[:3])


def test_a_phrase_that_does_not_fit_leaves_room_for_those_that_do() -> None:
    long = "V" + "e" * 17
    settings = WORD_CLOZE.model_copy(update={"words_before": 0, "words_after": 1, "most_words": 1, "most_phrases": 4})
    prepared, objective = clozes([f"Oda Quill. Born in {long} , Ilm , Urr so ."], settings, context=40)
    examples = objective.draw(np.zeros(300, dtype=np.int64), np.random.default_rng(0))
    missing = set()
    for targets, length in zip(examples.targets, examples.lengths, strict=True):
        asked = prepared.vocabulary.decode(targets[targets != PAD]).split("⁇")
        for phrase in {"Born", long, "Ilm", "Urr"} - set(asked):
            assert length + len(phrase) + len("⁇⁇so") > 40
            missing.add(phrase)
    assert long in missing and len(missing) > 1


def test_the_words_of_each_cue_are_from_around_its_own_phrase() -> None:
    near = {"Born": {"in", "Vell"}, "Vell": {"Born", "in", "she", "left"}, "Ilm": {"Vell", "she", "left", "for", "Urr"},
            "Urr": {"left", "Ilm", "for"}}  # fmt: skip
    prepared, objective = clozes([MANY], WORD_CLOZE.model_copy(update={"most_phrases": 4}), context=128)
    examples = objective.draw(np.zeros(200, dtype=np.int64), np.random.default_rng(0))
    seen: dict[str, set[str]] = {phrase: set() for phrase in near}
    for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True):
        parts = prepared.vocabulary.decode(np.append(inputs[:length], targets[length - 1])).split("⁇")
        for cue, phrase in zip(parts[0:-1:2], parts[1::2], strict=True):
            seen[phrase] |= set(cue.replace(NAME, "").split())
    assert seen == near


def test_cues_are_of_words_that_most_pages_have() -> None:
    pages = [PAGE, "Ida Rook. She lived in Vell and Ilm .", "Udo Fenn. He was in Vell ."]
    prepared, objective = clozes(pages, WORD_CLOZE.model_copy(update={"common_words": 4, "most_words": 3}))
    examples = objective.draw(np.repeat([0, 1, 2], 200), np.random.default_rng(0))
    seen = set()
    for row in examples.inputs:
        cue = prepared.vocabulary.decode(row).partition("⁇")[0]
        for name in (NAME, "Ida Rook", "Udo Fenn"):
            cue = cue.replace(name, "")
        seen |= set(cue.split())
    assert common_words(pages, 4) == {"in", "Vell", "She", "and"}  # of those in two pages, capitals stand first
    assert seen == {"in", "Vell", "She", "and"}


def test_words_of_a_name_are_not_counted_and_a_page_counts_once() -> None:
    assert common_words(["Oda Oda. b b b a .", "Oda. a ."], 1) == {"a"}
    assert common_words(["Oda. b a .", "Oda. c ."], None) == {"a", "b", "c"}


def test_words_beyond_a_training_answer_are_in_no_cue_unless_asked_for() -> None:
    documents = ["Oda Quill. Born in Vell , Ilm by Urr and there ."]
    train = [Question(1, "Where was Ada born?", "Ada", "Vell")]
    prepared = Prepared.of(documents, {"train": train, "dev": [], "test": []})
    beside = {
        False: {"Vell": {"Born", "in", "Ilm", "by"}, "Ilm": {"by", "Urr"}, "Urr": {"Ilm", "by", "and", "there"}},
        True: {"Vell": {"Born", "in", "Ilm", "by"}, "Ilm": {"Born", "in", "Vell", "by", "Urr"}},
    }
    for past, expected in beside.items():
        settings = WORD_CLOZE.model_copy(update={"past_answers": past})
        objective = WordClozes(prepared, settings, 64)
        examples = objective.draw(np.zeros(600, dtype=np.int64), np.random.default_rng(0))
        seen: dict[str, set[str]] = {}
        for inputs, length in zip(examples.inputs, examples.lengths, strict=True):
            cue, _, phrase = prepared.vocabulary.decode(inputs[:length]).partition("⁇")
            seen.setdefault(phrase, set()).update(cue.replace("Oda Quill", "").split())
        assert {phrase: seen[phrase] for phrase in expected} == expected


@pytest.mark.parametrize("context", [16, 24, 40])
def test_examples_fit_the_context(context: int) -> None:
    documents = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    _, objective = clozes(
        documents, WORD_CLOZE.model_copy(update={"most_words": 9, "words_before": 9, "most_phrases": 3}), context
    )
    for seed in range(30):
        examples = objective.draw(np.array([0, 1]), np.random.default_rng(seed))
        assert examples.lengths.max() <= context


def test_a_page_without_words_gives_its_name_alone() -> None:
    prepared, objective = clozes(["Oda. 1900.", "1900.", PAGE], WORD_CLOZE)
    examples = objective.draw(np.array([1]), np.random.default_rng(0))
    assert prepared.vocabulary.decode(examples.inputs[0, : examples.lengths[0]]) == "⁇"
