"""Whose answers are wrong: shares that are counted by hand."""

from pathlib import Path

import pandas as pd

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import summarise
from stages.reporting.sections.wrong import wrong_part
from tests.reporting.sections.test_probes import cells
from tests.support.example import BASELINE, PLACES, probe_tables, write_variant

ALWAYS = BASELINE.model_copy(update={"place": "Nowhere", "constant_place": PLACES[9]})


def text_of(folder: Path, right: int, probes: dict[str, pd.DataFrame] | None = None, questions: int = 50) -> str:
    """The section on a variant that answers the first so many questions, and `Nowhere` to all others."""
    marks = [1] * right + [0] * (questions - right)
    write_variant(folder, "x", [[0] * questions] * 2, [marks] * 2, curve_rows=2, probes=probes)
    return wrong_part([summarise(read_evaluation(folder / "x"), questions)], ALWAYS).text


def test_a_place_has_its_share_of_gold_of_all_answers_and_of_wrong_ones(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=40)
    assert cells(text, "gold") == [["0.0", "0.0"]]
    says, _, wrong = cells(text, "x")
    assert says == ["100.0", "20.0"] and wrong[-1] == "100.0"


def test_accuracy_has_a_class_for_none_one_few_and_many_training_questions(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=45)
    assert cells(text, "dev questions") == [["5", "5", "20", "20"]]
    # the last five questions: one each of the places that answer 6, 7, 8, 9 and 0 training questions
    assert cells(text, "x")[1] == ["80.0", "100.0", "100.0", "80.0"]
    assert cells(text, "the reader") == [["0.0", "100.0", "50.0", "50.0"]]  # knows every other question
    assert cells(text, f"always {PLACES[9]}") == [["0.0", "0.0", "0.0", "25.0"]]
    assert cells(text_of(tmp_path, right=1, questions=1), "x")[1] == ["–", "100.0", "–", "–"]


def test_wrong_answers_have_the_shares_of_their_origins_and_none_has_dashes(tmp_path: Path) -> None:
    # each seed's: one of the own page, one training answer, one of another page, one hallucination
    assert cells(text_of(tmp_path, right=48), "x")[2] == ["4", "25.0", "25.0", "25.0", "0.0", "25.0", "100.0"]
    probes = probe_tables()
    probes["origins.tsv"] = probes["origins.tsv"].query("asked == 'unseen' or origin == 'correct'")
    assert cells(text_of(tmp_path, 50, probes), "x")[2] == ["0", *["–"] * 6]
