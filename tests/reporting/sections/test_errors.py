"""Which questions are answered wrongly, and how sure: shares that are counted by hand."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.sections.errors import auroc, coverage, errors_part
from tests.support.example import BASELINE, evaluated
from tests.support.pages import cells

ALWAYS = BASELINE.model_copy(update={"place": "Nowhere"})


def text_of(folder: Path, right: int, questions: int = 50, probability: list[list[float]] | None = None) -> str:
    """The section on a variant that answers the first so many questions, and `Nowhere` to all others."""
    marks = [1] * right + [0] * (questions - right)
    result = evaluated(folder, "x", [[0] * questions] * 2, [marks] * 2, curve_rows=2, probability=probability)
    return errors_part([result], ALWAYS).text


def test_accuracy_has_a_group_for_none_one_few_and_many_training_questions_and_where_reader_and_rule_err(
    tmp_path: Path,
) -> None:
    text = text_of(tmp_path, right=45)
    assert cells(text, "dev questions") == [["5", "5", "20", "20", "20", "24", "24"]]
    # The last five questions: one each of the places that answer 6, 7, 8, 9 and 0 training questions. Pages have the
    # answers of the first 40. The reader knows every other question, the rule the fourth, sixth, eighth, tenth of ten
    assert cells(text, "x")[0] == ["80.0", "100.0", "100.0", "80.0", "100.0", "100.0", "0.0"]
    assert cells(text, "the reader") == [["0.0", "100.0", "50.0", "50.0", "0.0", "83.3", "16.7"]]
    assert cells(text, "the rule") == [["100.0", "0.0", "25.0", "50.0", "80.0", "0.0", "100.0"]]
    assert cells(text, "always Nowhere") == [["0.0"] * 6 + ["100.0"]]


@pytest.mark.parametrize(
    ("right", "questions", "shares"),
    [(22, 40, ["58.3", "41.7"]), (41, 50, ["100.0", "0.0"]), (1, 1, ["100.0", "0.0"])],
)
def test_a_variant_is_right_or_says_what_the_rule_says_where_the_rule_errs(
    tmp_path: Path, right: int, questions: int, shares: list[str]
) -> None:
    assert cells(text_of(tmp_path, right, questions), "x")[0][-2:] == shares


def test_a_group_without_a_question_has_no_column(tmp_path: Path) -> None:
    assert len(cells(text_of(tmp_path, right=1, questions=1), "x")[0]) == len(("once", "rule", "as the rule"))


def test_auroc_and_coverage_are_means_of_what_each_seed_gets_alone(tmp_path: Path) -> None:
    sure_when_right, sure_when_wrong = [0.9] * 20 + [0.1] * 20, [0.02] * 20 + [0.04] * 20
    text = text_of(tmp_path, right=20, questions=40, probability=[sure_when_right, sure_when_wrong])
    # says Nowhere to half; all answers together would have an AUROC of 75 %; unseen names get two training answers of 4
    assert cells(text, "x")[-1] == ["50.0", "26.5", "50.0", "25.0", "25.0", "50.0"]


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
