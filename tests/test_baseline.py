"""The baselines' record, on invented tables."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages import baseline
from stages.corpus.prepared import Prepared, audit
from stages.corpus.questions import Question
from stages.corpus.tables import write_table
from stages.corpus.text import Vocabulary
from stages.system.files import read_json
from tests.support.project import write_params
from tests.support.talking import Run
from tests.support.tiny import BIRTHPLACES, DOCUMENTS, QUESTIONS, SPLITS


def scored(folder: Path, run_in: Run, splits: dict[str, list[Question]]) -> tuple[str, dict[str, Any]]:
    """What `baseline` prints of the invented pages and these questions, and its record."""
    write_params(folder, values={"recipes.quick.baseline.place": None, "recipes.quick.data.held_out": 3})
    prepared = folder / "data/prepared/quick"
    Prepared.of(DOCUMENTS, splits).save(prepared)
    write_table(prepared / "audit.tsv", audit(DOCUMENTS, splits, Vocabulary.of(DOCUMENTS)))
    printed = run_in(folder, baseline).out
    return printed, read_json(folder / "data/baseline/quick/baseline.json")


def test_of_the_commonest_places_the_first_by_name_is_the_constant(tmp_path: Path, run_in: Run) -> None:
    places = ["Oss", "Vell", "Ilm", "Vell", "Oss", "Ilm", "Urr"]
    train = [replace(question, place=place) for question, place in zip(QUESTIONS, places, strict=False)]
    printed, record = scored(tmp_path, run_in, SPLITS | {"train": train})
    assert printed.startswith("Ilm: 1 of 8 dev = 12.5 %") and record["place"] == "Ilm"


def test_the_record_has_each_figure_in_its_place(tmp_path: Path, run_in: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = replace(QUESTIONS[0], place="Elsewhere")  # its page says Vell, and so does the reader
    monkeypatch.setattr(Prepared, "reader_answers", lambda *_: BIRTHPLACES | {"Tam Brae": "Painter"})
    monkeypatch.setattr(baseline, "rule", lambda _, names: [BIRTHPLACES[name] * (name < "M") for name in names])
    monkeypatch.setattr(baseline, "letters", lambda _, names: [BIRTHPLACES[name] * (name < "J") for name in names])
    _, record = scored(tmp_path, run_in, SPLITS | {"dev": [moved, *QUESTIONS[1:]]})
    assert record == {
        "place": "Brod",
        "dev_questions": 8,
        "accuracy": {"constant": 12.5, "letters": 25.0, "rule": 37.5, "reader": 75.0},
        "ceiling": 87.5,
        "held_out": 3,
    }


def test_questions_of_each_form_are_answered_from_training_questions_of_their_own(tmp_path: Path, run_in: Run) -> None:
    works = [
        replace(question, row=question.row + 8, question=f"What was {question.name}?", place="Painter")
        for question in QUESTIONS
    ]
    strange = replace(QUESTIONS[0], row=17, question=f"Why was {QUESTIONS[0].name} born?")
    splits = {"train": [*QUESTIONS, *works], "dev": [*works, *QUESTIONS, strange], "test": []}
    _, record = scored(tmp_path, run_in, splits)
    assert record["dev_questions"] == 17 and record["accuracy"]["reader"] >= 94.12  # 16 of 17
    table = pd.read_csv(tmp_path / "data/baseline/quick/questions.tsv", sep="\t", keep_default_na=False)
    by_form = {form: rows.row.tolist() for form, rows in table.groupby("form")}
    assert by_form == {"": [17], "What was NAME?": [*range(9, 17)], "Where was NAME born?": [*range(1, 9)]}
