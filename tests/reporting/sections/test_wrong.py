"""Whose answers are wrong: shares that are counted by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stages.reporting.sections.wrong import claim, slopes, wrong_part
from tests.reporting.sections.test_probes import cells
from tests.support.example import BASELINE, evaluated, probe_tables

ALWAYS = BASELINE.model_copy(update={"place": "Nowhere"})


def text_of(folder: Path, right: int, probes: dict[str, pd.DataFrame] | None = None, questions: int = 50) -> str:
    """The section on a variant that answers the first so many questions, and `Nowhere` to all others."""
    marks = [1] * right + [0] * (questions - right)
    result = evaluated(folder, "x", [[0] * questions] * 2, [marks] * 2, curve_rows=2, probes=probes)
    return wrong_part([result], ALWAYS).text


def test_a_place_has_its_share_of_gold_of_all_answers_and_of_wrong_ones(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=40)
    assert cells(text, "gold") == [["0.0", "0.0"]]
    says, _, wrong, _ = cells(text, "x")
    assert says == ["100.0", "20.0"] and wrong[-1] == "100.0"


def test_accuracy_has_a_class_for_none_one_few_and_many_training_questions(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=45)
    assert cells(text, "dev questions")[0] == ["5", "5", "20", "20"]
    # the last five questions: one each of the places that answer 6, 7, 8, 9 and 0 training questions
    assert cells(text, "x")[1] == ["80.0", "100.0", "100.0", "80.0"]
    assert cells(text, "the reader") == [["0.0", "100.0", "50.0", "50.0"]]  # knows every other question
    assert cells(text_of(tmp_path, right=1, questions=1), "x")[1] == ["–", "100.0", "–", "–"]


def test_wrong_answers_have_the_shares_of_their_origins_and_none_has_dashes(tmp_path: Path) -> None:
    # each seed's: one of the own page, one training answer, one of another page, one hallucination
    assert cells(text_of(tmp_path, right=48), "x")[2] == ["4", "25.0", "25.0", "25.0", "0.0", "25.0", "100.0"]
    probes = probe_tables()
    probes["origins.tsv"] = probes["origins.tsv"].query("asked == 'unseen' or origin == 'correct'")
    assert cells(text_of(tmp_path, 50, probes), "x")[2] == ["0", *["–"] * 6]


def test_names_of_a_group_have_shares_from_thirty_questions_on(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=60, questions=80)  # of the first 40 names one group is, of the others another
    assert cells(text, "dev questions")[1] == ["40", "40"]
    assert cells(text, "x: right") == [["100.0", "50.0"]]
    assert cells(text_of(tmp_path, right=50), "x: right") == [["100.0", "–"]]


def test_the_slope_is_that_of_a_fitted_line(tmp_path: Path) -> None:
    text = text_of(tmp_path, right=100, questions=200)
    rows = np.array([row for row in range(1, 201) if row % 10])  # those whose page has the place
    distances = 10 * (rows % 8)
    slope = np.polyfit(distances, rows <= 100, 1)[0]
    shown = cells(text, "x")[3]
    assert shown[-1] == f"{1000 * slope:+.1f}"
    assert shown[0] == f"{100 * (rows[distances < 20] <= 100).mean():.1f}"
    assert sum(map(int, cells(text, "dev questions")[2][:-1])) == len(rows) == 180


def test_the_claim_on_the_synthesizer_is_tested_as_other_differences_are(tmp_path: Path) -> None:
    marks = [[int(row % 8 < most) for row in range(1, 201)] for most in (4, 4, 4)]
    worse = [[int(row % 8 < most) for row in range(1, 201)] for most in (2, 2, 2)]
    shown = {"vanilla": marks, "synthesizer": worse}
    results = [evaluated(tmp_path, name, [[0] * 200] * 3, seeds, curve_rows=2) for name, seeds in shown.items()]
    always = evaluated(tmp_path, "rope", [[0] * 200] * 3, [[1] * 200] * 3, curve_rows=2)
    assert np.allclose(slopes(always), 0)  # what does not depend on the distance adds nothing to the spread
    unknown = replace(always.pretrained, asked=always.pretrained.asked.assign(distance=np.nan))
    assert (slopes(replace(always, pretrained=unknown)) == 0).all()
    (difference,) = claim(results)
    rows = np.array([row for row in range(1, 201) if row % 10])
    lines = [np.polyfit(10 * (rows % 8), rows % 8 < most, 1)[0] for most in (2, 4)]
    assert difference.points == pytest.approx(1000 * (lines[0] - lines[1]), abs=0.01)
    assert claim(results[:1]) == []
    flat = evaluated(tmp_path / "flat", "synthesizer", [[0] * 200] * 3, [[1] * 200] * 3, curve_rows=2)
    assert claim([results[0], flat]) == []  # it has no slope to compare
