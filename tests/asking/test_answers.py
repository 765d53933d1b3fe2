"""Answers beside the places that are right."""

import numpy as np
import pytest

from stages.asking.decoding import Continuation
from stages.asking.recall import answers
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from tests.support.tiny import BIRTHPLACES, tiny_model, tiny_prepared
from tests.support.toy import learned, saying, toy_prepared

SAID = {place: place for place in BIRTHPLACES.values()} | {
    "Vell": "vell", "Ilm": "Ilm ", "Oss": "Os", "Urr": "Urr.", "Kip": "",
}  # fmt: skip


def test_what_is_known_by_heart_is_answered() -> None:
    table = answers(learned(("question",)), toy_prepared(), "dev", saying(8))
    assert table.row.tolist() == list(range(1, 9)) and table.correct.tolist() == [1] * 8


def test_only_the_same_characters_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    answers_given = [Continuation(np.array(prepared.vocabulary.encode(place)), 0.5) for place in SAID.values()]
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: answers_given)
    model = tiny_model("vanilla")
    dev = answers(model, prepared, "dev", saying(8))
    assert dev.predicted.tolist() == [*SAID.values()] and dev.gold.tolist() == [*SAID]
    assert dev.correct.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert answers(model, prepared, "test", saying(8)).correct.tolist() == [""] * 8


@pytest.mark.parametrize(("recipe", "predicted"), [("quick", "L’Îlm"), ("own", "L'Îlm")])
def test_an_answer_in_another_spelling_stands_as_the_gold_one_where_a_recipe_allows_it(
    monkeypatch: pytest.MonkeyPatch, recipe: str, predicted: str
) -> None:
    splits = {split: [Question(1, "Who?", "Ada", "L'Îlm")] for split in ("train", "dev", "test")}
    prepared = Prepared.of(["Ada. L’Îlm ."], splits)
    continuation = Continuation(prepared.vocabulary.encode("L’Îlm"), 0.5)
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: [continuation])
    for split in ("dev", "test"):  # a test with answers is marked, too
        table = answers(tiny_model("vanilla"), prepared, split, saying(8, recipe))
        assert table.predicted.tolist() == [predicted] and table.correct.tolist() == [int(recipe == "own")]
