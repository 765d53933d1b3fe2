"""Unseen entities are in no text, and the same each time."""

import pytest

from stages.corpus.vocabulary import Vocabulary
from stages.probing.unseen import question_about, unseen_names

LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])


def test_as_many_different_names_as_asked_for_and_the_same_each_time() -> None:
    names = unseen_names(LETTERS, "", 128, 50)
    assert len(set(names)) == 50
    assert names == unseen_names(LETTERS, "", 128, 50)


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    known = ". ".join(unseen_names(LETTERS, "", 128, 50))
    names = unseen_names(LETTERS, known, 128, 50)
    assert len(names) == 50 and not any(name in known or LETTERS.unknown(name) for name in names)
    assert unseen_names(Vocabulary.of(["xyz"]), "", 128) == []


@pytest.mark.parametrize("context", [32, 40])
def test_the_question_leaves_room_for_an_answer(context: int) -> None:
    names = unseen_names(LETTERS, "", context)
    assert len(names) == 200 and max(len(question_about(name)) for name in names) <= context - 2
