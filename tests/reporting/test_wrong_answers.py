"""Which questions are answered wrongly, and how sure: shares that are counted by hand."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.evaluations import Evaluation
from stages.reporting.wrong_answers import auroc, coverage, kinds_table, questions_table, risk_table
from tests.support.example import evaluated, probe_tables
from tests.support.pages import cells


def answering(
    folder: Path, right: int, questions: int = 50, probability: list[list[float]] | None = None
) -> Evaluation:
    """A variant that answers the first so many questions, and `Nowhere` to all others."""
    marks = [1] * right + [0] * (questions - right)
    return evaluated(folder, "x", [[0] * questions] * 2, [marks] * 2, curve_rows=2, probability=probability)


def test_accuracy_has_a_group_for_none_one_few_and_many_training_questions_and_where_reader_and_rule_err(
    tmp_path: Path,
) -> None:
    text = questions_table([answering(tmp_path, right=45)], "Nowhere")
    assert cells(text, "dev questions") == [["5", "5", "20", "20", "20", "24", "24"]]
    # The last five questions: one each of the places that answer 6, 7, 8, 9 and 0 training questions. Pages have the
    # answers of the first 40. The reader knows every other question, the rule the fourth, sixth, eighth, tenth of ten
    assert cells(text, "x")[0] == ["80.0", "100.0", "100.0", "80.0", "100.0", "100.0", "0.0"]
    assert cells(text, "the reader") == [["0.0", "100.0", "50.0", "50.0", "0.0", "83.3", "16.7"]]
    assert cells(text, "the rule") == [["100.0", "0.0", "25.0", "50.0", "80.0", "0.0", "100.0"]]
    assert cells(text, "always Nowhere") == [["0.0"] * 6 + ["100.0"]]


@pytest.mark.parametrize(("right", "questions", "shares"), [(22, 40, ["58.3", "41.7"]), (1, 1, ["100.0", "0.0"])])
def test_a_variant_is_right_or_says_what_the_rule_says_where_the_rule_errs(
    tmp_path: Path, right: int, questions: int, shares: list[str]
) -> None:
    (row,) = cells(questions_table([answering(tmp_path, right, questions)], "Nowhere"), "x")
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
