"""Invented people are in no text, and the same each time."""

import pytest
from stages.probing.people import answers, invented_names, question_about

from stages.corpus.vocabulary import Vocabulary
from stages.settings import Generation
from stages.sources.world.names import CULTURES
from tests.probing.toy import learned, toy_prepared
from tests.tiny import BIRTHPLACES

LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])


def test_as_many_of_each_culture_and_the_same_each_time() -> None:
    names = invented_names(LETTERS, "", 5, 1, 128)
    assert names.culture.value_counts().to_dict() == dict.fromkeys(CULTURES, 5)
    assert names["name"].is_unique
    assert names.equals(invented_names(LETTERS, "", 5, 1, 128))
    assert not names.equals(invented_names(LETTERS, "", 5, 2, 128))


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    first = invented_names(LETTERS, "", 3, 1, 128)
    known = ". ".join(first["name"])
    second = invented_names(LETTERS, known, 3, 1, 128)
    assert not set(first["name"]) & set(second["name"])
    assert not any(name in known for name in second["name"])
    assert not any(LETTERS.unknown(name) for name in second["name"])
    accents = Vocabulary.of([*LETTERS.characters[2:], "éüñ"])
    assert any(set("éüñ") & set(name) for name in invented_names(accents, "", 200, 1, 128)["name"])


def test_a_vocabulary_without_the_letters_has_no_people() -> None:
    assert invented_names(Vocabulary.of(["xyz"]), "", 5, 1, 128).empty


@pytest.mark.parametrize("context", [32, 40])
def test_the_question_leaves_room_for_an_answer(context: int) -> None:
    names = invented_names(LETTERS, "", 20, 1, context)["name"]
    assert len(names) and max(len(question_about(name)) for name in names) <= context - 2


def test_a_model_that_knows_the_questions_answers_with_places_it_has_learned() -> None:
    vocabulary = toy_prepared().vocabulary
    said = answers(
        learned(("question",)), vocabulary, [*BIRTHPLACES, "Ada Cole"], Generation(max_characters=10, beams=1)
    )
    assert list(said.answer[:8]) == list(BIRTHPLACES.values())
    assert (said.probability[:8] > 0.5).all() and 0 < said.probability[8] <= 1
