"""Ways to answer, and answers beside the places that are right."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.inference.answers import answers
from stages.inference.searches import Continuation
from stages.probing.probe import BEAM, by_decoding
from tests.support.tiny import BIRTHPLACES, tiny_model, tiny_prepared
from tests.support.toy import learned, saying, toy_prepared

WAYS = ("beam", "draw")
SAID = {place: place for place in BIRTHPLACES.values()} | {
    "Vell": "vell", "Ilm": "Ilm ", "Oss": "Os", "Urr": "Urr.", "Kip": "",
}  # fmt: skip


def test_what_is_known_by_heart_is_answered_in_every_way() -> None:
    table = by_decoding(learned(("question",)), toy_prepared(), saying(8))
    assert table.row.tolist() == list(range(1, 9))
    assert table[list(WAYS)].to_numpy().all()
    assert {*table} == {"row", *WAYS}


def test_each_way_of_answering_has_its_own_column(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(*given: Any) -> pd.DataFrame:
        return pd.DataFrame({"correct": [int(given[-1] == BEAM)] * 8})

    monkeypatch.setattr("stages.probing.probe.answers", answered)
    table = by_decoding(tiny_model("vanilla"), toy_prepared(), saying(8))
    assert table.beam.tolist() == [1] * 8 and table.draw.tolist() == [0] * 8


def test_only_the_same_characters_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    answers_given = [Continuation(np.array(prepared.vocabulary.encode(place)), 0.5) for place in SAID.values()]
    monkeypatch.setattr("stages.inference.answers.generate", lambda *_: answers_given)
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
    monkeypatch.setattr("stages.inference.answers.generate", lambda *_: [continuation])
    for split in ("dev", "test"):  # a test with answers is marked, too
        table = answers(tiny_model("vanilla"), prepared, split, saying(8, recipe))
        assert table.predicted.tolist() == [predicted] and table.correct.tolist() == [int(recipe == "own")]
