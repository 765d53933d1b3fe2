"""Characters that are right after the gold ones, and after the model's own."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from stages.corpus.example import MASK
from stages.corpus.questions import prompt
from stages.method import exposure
from tests.support.talking import QUICK, Run
from tests.support.tiny import BIRTHPLACES, loud, tiny_model, tiny_prepared


def test_a_model_that_answers_everything_has_every_mark(run: Run, project: Path) -> None:
    assert run(exposure, *QUICK.split()).code == 0
    written = json.loads((project / "data/exposure/vanilla/exposure.json").read_text(encoding="utf-8"))
    marks = ["1" * (len(place) + 1) for place in BIRTHPLACES.values()]
    assert written["answers"] == [{"seed": 1, "gold": of_answer, "own": of_answer} for of_answer in marks]


@pytest.mark.parametrize("said", ["V", "Ve", "Vellum", "Ilm"])
def test_the_marks_are_those_of_one_character_after_the_other(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    model = loud(tiny_model("vanilla", len(prepared.vocabulary)))
    tokens = prepared.vocabulary.encode(said)
    monkeypatch.setattr(exposure, "generate", lambda *_: [type("Said", (), {"tokens": tokens})] * 8)
    marks = exposure.mark(model, prepared, 8)
    own = {"V": "10000", "Ve": "11000", "Vellum": "11110", "Ilm": "00000"}  # of Vell⁇, in the place of each
    assert marks[0]["own"] == own[said]

    for row, of_answer in enumerate(marks):
        text = prompt(prepared.questions["dev"][row])
        gold = ""
        for character in np.append(prepared.answers["dev"][row], MASK):
            with torch.inference_mode():
                likeliest = int(model(torch.from_numpy(text)[None])[0, -1].argmax())
            gold += str(int(likeliest == character))
            text = np.append(text, character)
        assert of_answer["gold"] == gold
