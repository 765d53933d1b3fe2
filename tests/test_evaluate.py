"""Answers beside the places that are right."""

import numpy as np
import pytest

from stages.evaluate import predictions
from stages.inference.searches import Continuation
from tests.tiny import BIRTHPLACES, SETTINGS, tiny_model, tiny_prepared

SAID = {place: place for place in BIRTHPLACES.values()} | {
    "Vell": "vell", "Ilm": "Ilm ", "Oss": "Os", "Urr": "Urr.", "Kip": "",
}  # fmt: skip


def test_only_the_same_characters_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    answers = [Continuation(np.array(prepared.vocabulary.encode(said)), 0.5) for said in SAID.values()]
    monkeypatch.setattr("stages.evaluate.generate", lambda *_: answers)
    model, decoding = tiny_model("vanilla"), SETTINGS.question_recipe("quick").generation
    dev = predictions(model, prepared, "dev", decoding)
    assert dev.predicted.tolist() == [*SAID.values()] and dev.gold.tolist() == [*SAID]
    assert dev.correct.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert predictions(model, prepared, "test", decoding).correct.tolist() == [""] * 8
