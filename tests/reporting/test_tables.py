"""The tables of the report: shares, counts and intervals that are counted by hand."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stages.reporting.evaluations import Answers, Evaluation
from stages.reporting.statistics import accuracy_interval
from stages.reporting.tables import (
    MOST_FORMS,
    RUNS,
    answers_table,
    auroc,
    coverage,
    differences_between,
    extraction_shares,
    forms_reached_table,
    forms_table,
    kinds_table,
    memorised_table,
    public_table,
    questions_table,
    risk_table,
    seeds_among,
)
from tests.reporting.test_statistics import marks
from tests.support.example import BASELINE, FACTS, evaluated, probe_tables
from tests.support.pages import cells

BORN, STUDIED = "Where was NAME born?", "What did NAME study?"


def answering(
    folder: Path, right: int, questions: int = 50, probability: list[list[float]] | None = None
) -> Evaluation:
    """A variant that answers the first so many questions, and `Nowhere` to all others."""
    marks = [1] * right + [0] * (questions - right)
    return evaluated(folder, "x", [[0] * questions] * 2, [marks] * 2, curve_rows=2, probability=probability)


def asking(evaluation: Evaluation, **columns: Any) -> Evaluation:
    """The same answers to questions with other columns of the baseline's table."""
    asked = evaluation.pretrained.asked.assign(**columns)
    return replace(evaluation, pretrained=replace(evaluation.pretrained, asked=asked))


def test_variants_stand_beside_the_baselines_with_wilsons_intervals(tmp_path: Path) -> None:
    text = answers_table([answering(tmp_path, right=5, questions=10)], BASELINE)
    # the reader knows rows 1, 3, 5, 7, 9, the rule 4, 6, 8, 10; else they say `Nowhere`, as the model of 6 to 10
    assert cells(text, "x") == [["50.0 (23.7 to 76.3)", "0.0 (0.0 to 27.8)", "60.0"]]
    assert cells(text, "the reader") == [["50.0 (23.7 to 76.3)", "", "100.0"]]
    assert cells(text, "the rule") == [["40.0 (16.8 to 68.7)", "", "10.0"]]
    assert cells(text, "the letters") == [["0.0 (0.0 to 27.8)", "", "0.0"]]
    assert cells(text, "always London") == [["10.0 (1.8 to 40.4)", "", "0.0"]]  # scipy's binomtest(1, 10)
    assert cells(text, "ceiling") == [["95.8", "", ""]]


def test_answers_to_test_have_a_column_where_they_are_marked(tmp_path: Path) -> None:
    evaluation = answering(tmp_path, right=5, questions=10)
    dev = evaluation.pretrained
    of_two = Answers(dev.correct[:2], dev.probability[:2], dev.predicted[:2], dev.asked[:2])
    (row,) = cells(answers_table([replace(evaluation, test=of_two)], BASELINE), "x")
    assert row[2].startswith("100.0 (") and len(row) == 4


def test_each_form_of_question_has_its_own_accuracies(tmp_path: Path) -> None:
    evaluation = answering(tmp_path, right=5, questions=10)
    text = forms_table([asking(evaluation, form=[BORN] * 4 + [STUDIED] * 5 + [""])], BASELINE)
    # the model knows rows 1 to 5, the reader 1, 3, 5, 7, 9, the rule 4, 6, 8, 10
    assert cells(text, STUDIED) == [["5", "20.0", "60.0", "40.0"]]
    assert cells(text, BORN) == [["4", "100.0", "50.0", "25.0"]]
    assert cells(text, "another form") == [["1", "0.0", "0.0", "100.0"]]
    assert text.index(STUDIED) < text.index(BORN) < text.index("another form")  # the commonest first
    for alike in ([BORN] * 10, [""] * 10):
        assert not forms_table([asking(evaluation, form=alike)], BASELINE)


def test_many_forms_are_joined(tmp_path: Path) -> None:
    count = 2 * MOST_FORMS
    evaluation = evaluated(tmp_path, "x", [[0] * count], [[1] * count], curve_rows=2)
    text = forms_table([asking(evaluation, form=[f"{BORN} {number}" for number in range(count)])], BASELINE)
    assert text.count(BORN) == MOST_FORMS and cells(text, "another form")[0][:2] == [f"{MOST_FORMS}", "100.0"]


@pytest.mark.parametrize(("variants", "pairs"), [(1, 0), (4, 6), (5, 10), (6, 5), (14, 13)])
def test_many_variants_are_compared_with_one_that_their_answers_do_not_choose(
    tmp_path: Path, variants: int, pairs: int
) -> None:
    marks = {f"v{number}": [[1] * (40 - number) + [0] * (10 + number)] * 3 for number in range(variants)}
    several = [evaluated(tmp_path, name, [[0] * 50] * 3, rows, curve_rows=2) for name, rows in marks.items()]
    differences = differences_between(several, "v3")
    assert len(differences) == pairs
    assert variants < 6 or all("v3" in (pair.first, pair.second) and pair.points >= 0 for pair in differences)


def test_accuracy_has_a_group_for_none_one_few_and_many_training_questions_and_where_reader_and_rule_err(
    tmp_path: Path,
) -> None:
    text = questions_table([asking(answering(tmp_path, right=45), constant="Nowhere")], BASELINE)
    assert cells(text, "dev questions") == [["5", "5", "20", "20", "20", "24", "24"]]
    # The last five questions: one each of the places that answer 6, 7, 8, 9 and 0 training questions. Pages have the
    # answers of the first 40. The reader knows every other question, the rule the fourth, sixth, eighth, tenth of ten
    assert cells(text, "x")[0] == ["80.0", "100.0", "100.0", "80.0", "100.0", "100.0", "0.0"]
    assert cells(text, "the reader") == [["0.0", "100.0", "50.0", "50.0", "0.0", "83.3", "16.7"]]
    assert cells(text, "the rule") == [["100.0", "0.0", "25.0", "50.0", "80.0", "0.0", "100.0"]]
    assert cells(text, "always London") == [["0.0"] * 6 + ["100.0"]]


@pytest.mark.parametrize(("right", "questions", "shares"), [(22, 40, ["58.3", "41.7"]), (1, 1, ["100.0", "0.0"])])
def test_a_variant_is_right_or_says_what_the_rule_says_where_the_rule_errs(
    tmp_path: Path, right: int, questions: int, shares: list[str]
) -> None:
    (row,) = cells(questions_table([answering(tmp_path, right, questions)], BASELINE), "x")
    assert row[-2:] == shares
    assert len(row) == (7 if questions > 1 else 3)  # a group without a question has no column


def test_answers_have_the_shares_of_their_kinds(tmp_path: Path) -> None:
    # each seed's: one right, one of the own page, one each of three kinds of retrieval, none empty
    expected = ["20.0", "20.0", "60.0", "20.0", "20.0", "20.0", "0.0", "0.0"]
    assert cells(kinds_table([answering(tmp_path, 1)]), "x") == [expected]
    # of five questions three have a page that lacks the answer
    lacking = evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=2, probes=probe_tables(facts=2))
    assert cells(kinds_table([lacking]), "x") == [["20.0", "20.0", *["0.0"] * 5, "60.0"]]


def test_auroc_and_coverage_are_means_of_what_each_seed_gets_alone(tmp_path: Path) -> None:
    sure_when_right, sure_when_wrong = [0.9] * 20 + [0.1] * 20, [0.02] * 20 + [0.04] * 20
    evaluation = answering(tmp_path, right=20, questions=40, probability=[sure_when_right, sure_when_wrong])
    # says Nowhere to half; all answers together would have an AUROC of 75 %; unseen names get two training answers of 4
    assert cells(risk_table([evaluation], "Nowhere"), "x") == [["50.0", "26.5", "50.0", "25.0", "25.0", "50.0"]]


def test_auroc_is_the_share_of_pairs_in_which_the_right_answer_is_surer() -> None:
    likely, outcome = np.array([0.9, 0.8, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0, 1])
    assert auroc(likely, outcome) == pytest.approx(3.5 / 6)  # 0.9 beats both, 0.8 one and ties with one, 0.1 none
    for certain in (np.ones(5, int), np.zeros(5, int)):  # no pair
        assert np.isnan(auroc(likely, certain))


LATE_ERRORS = [1] * 49 + [0] + [1] * 30 + [0] * 20  # wrong, surest first: 1 of 50, 1 of 80, 2 of 81, 4 of 83, 5 of 84
FIRST_WRONG = [0] + [1] * 59 + [0] * 40  # too many at first; 1 of 50 to 1 of 60 are few enough again


@pytest.mark.parametrize(
    ("correct", "most_wrong", "share"),
    [(LATE_ERRORS, 2, 0.8), (LATE_ERRORS, 5, 0.83), (FIRST_WRONG, 2, 0.6), ([0] * 100, 5, 0), ([1] * 100, 2, 1)],
)
def test_coverage_is_the_largest_share_that_a_threshold_keeps_within_the_errors(
    correct: list[int], most_wrong: int, share: float
) -> None:
    surest_first, outcome = np.linspace(1, 0, 100), np.array(correct)
    assert coverage(surest_first, outcome, most_wrong) == share
    assert coverage(surest_first[::-1], outcome[::-1], most_wrong) == share  # in any order


def test_answers_of_equal_probability_are_given_together() -> None:
    likely, last_wrong = np.array([0.9] * 10 + [0.5] * 10), np.array([1] * 19 + [0])
    assert coverage(likely, last_wrong, 2) == 0.5  # no threshold keeps nine of the second ten
    assert coverage(likely, last_wrong, 5) == 1


def test_what_is_memorised_and_extracted_has_its_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=1)
    assert cells(memorised_table([evaluation]), "x") == [["75.0", "50.0", "60.0"]]  # 30 and 20 of 40 facts; 18 of 30
    shares = extraction_shares([evaluation])
    forms, offsets = ["75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0"], ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert cells(forms_reached_table(shares), "x") == [[*forms, *offsets]]  # of 40: 30, 15; 0; 10, 20
    assert set(shares) == {"variant", "weights", "measure", "share", "ci_low", "ci_high"}  # no question or place
    rows = shares.set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "memorised"): 15, ("finetuned", "extracted"): 20}
    assert [rows.loc[key].share for key in counts] == [right / FACTS for right in counts.values()]
    interval = accuracy_interval(marks(30, FACTS, seeds=2))
    assert tuple(rows.loc["pretrained", "memorised"][["ci_low", "ci_high"]]) == pytest.approx(interval)


def test_variants_that_practised_different_forms_stand_in_one_table(tmp_path: Path) -> None:
    made = {"y": probe_tables(forms=("infilling",), offsets={}), "x": probe_tables(forms=("cloze",))}
    evaluations = [
        evaluated(tmp_path, name, [[0]], [[1]], curve_rows=1, probes=probes) for name, probes in made.items()
    ]
    text = forms_reached_table(extraction_shares(evaluations))
    assert cells(text, "variant")[0] == ["cloze", "infilling", "question", "offset 0", "offset 1", "offset 10"]
    assert cells(text, "y") == [["–", "75.0 → 37.5", "25.0 → 50.0", "–", "–", "–"]]
    assert cells(text, "x") == [["75.0 → 37.5", "–", "25.0 → 50.0", "100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]]


def runs() -> pd.DataFrame:
    """Five runs of two variants, one with a fault that is the best of its variant."""
    rows = [("rope", 10.0, ""), ("rope", 30.0, ""), ("rope", 40.0, ""), ("rope", 99.0, "vanilla by code")]
    return pd.DataFrame([*rows, ("scratch", 1.0, "")], columns=["variant", "accuracy", "fault"])


def test_a_seed_has_its_rank_among_the_runs_without_a_known_fault() -> None:
    rope, scratch = public_table(runs(), {"rope": (50.0, 30.0, 5.0), "scratch": (2.0, 0.0)}).splitlines()[2:]
    assert rope == "| rope | 4 | 3 | 30.0 | 10.0 to 40.0 | 50.0 (1 of 4), 30.0 (2 of 4), 5.0 (4 of 4) |"
    assert scratch == "| scratch | 1 | 1 | 1.0 | 1.0 to 1.0 | 0.0 to 2.0 |"


def test_a_variant_that_no_public_run_has_is_left_out_and_all_from_scratch_are_one(tmp_path: Path) -> None:
    marks = [[0] * 9 + [1]], [[1] * 3 + [0] * 7]
    evaluations = [evaluated(tmp_path, name, *marks, curve_rows=1) for name in ("rope", "wrnn")]
    assert seeds_among(runs(), evaluations) == {"rope": [30.0], "scratch": [10.0, 10.0]}


def test_the_runs_are_named_by_repository_path_and_commit_and_have_the_medians_that_others_found() -> None:
    """Medians of all files, as counted beside this project: 1.6, 23.0, 11.8, 9.5 and 31.9 % of 500."""
    table = pd.read_csv(RUNS, sep="\t", keep_default_na=False)
    assert len(table) == 344 and not table.duplicated(["variant", "repository"]).any()
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in table.commit) and (table.path != "").all()
    assert (table.fault.str.split().str.len() <= 3).all()
    medians = (table.groupby("variant").right_of_500.median() / 5).round(1).to_dict()
    assert medians == {"scratch": 1.6, "vanilla": 23.0, "synthesizer": 11.8, "perceiver": 9.5, "rope": 31.9}
