"""Measures of calibration against values reckoned by hand."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.sections.calibration import (
    auroc,
    calibration_error,
    calibration_part,
    reliability,
    share_answered,
)
from tests.support.example import evaluated


def right(hits: int, of: int) -> list[float]:
    return [1.0] * hits + [0.0] * (of - hits)


def test_bins_and_error_are_the_hand_reckoned() -> None:
    likely, outcome = np.array([0.2] * 20 + [0.8] * 20), np.array(right(6, 20) + right(14, 20))
    assert np.allclose(reliability(likely, outcome), [[20, 0.2, 0.3], [20, 0.8, 0.7]])  # count, confidence, accuracy
    for answers, bins in ((1, 1), (39, 1), (40, 2), (1000, 10)):  # few answers make few bins
        assert len(reliability(np.linspace(0.1, 0.9, answers), np.ones(answers))) == bins
    likely, outcome = np.array([0.2] * 30 + [0.8] * 10), np.array(right(9, 30) + right(5, 10))
    assert calibration_error(likely, outcome) == pytest.approx(0.15)  # (30·0.1 + 10·0.3) / 40


def test_auroc_is_the_share_of_pairs_in_which_the_right_answer_is_surer() -> None:
    likely, outcome = np.array([0.9, 0.8, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0, 1])
    assert auroc(likely, outcome) == pytest.approx(3.5 / 6)  # 0.9 beats both, 0.8 one and ties with one, 0.1 none
    for certain in (np.ones(5, int), np.zeros(5, int)):  # no pair
        assert np.isnan(auroc(likely, certain))


def test_the_share_answered_is_the_largest_that_a_threshold_keeps_within_the_errors() -> None:
    surest_first = np.linspace(1, 0, 100)
    late_errors = np.array([1] * 49 + [0] + [1] * 30 + [0] * 20)  # 1 of 50, 1 of 80, 2 of 81, 5 of 84
    assert share_answered(surest_first, late_errors, 2) == 0.8
    assert share_answered(surest_first, late_errors, 5) == 0.83  # 4 of 83; 5 of 84 are too many
    assert share_answered(surest_first[::-1], late_errors[::-1], 2) == 0.8  # in any order

    first_wrong = np.array([0] + [1] * 59 + [0] * 40)  # too many at first; 1 of 50 to 1 of 60 are few enough again
    assert share_answered(surest_first, first_wrong, 2) == 0.6
    assert share_answered(surest_first, np.zeros(100, int), 5) == 0
    assert share_answered(surest_first, np.ones(100, int), 2) == 1


def test_answers_of_equal_probability_are_given_together() -> None:
    likely = np.array([0.9] * 10 + [0.5] * 10)
    assert share_answered(likely, np.array([1] * 19 + [0]), 2) == 0.5  # no threshold keeps nine of the second ten
    assert share_answered(likely, np.array([1] * 19 + [0]), 5) == 1


def test_the_tables_have_all_answers_but_those_to_test_and_what_each_seed_gets_alone(tmp_path: Path) -> None:
    marks = [1] * 20 + [0] * 20
    sure_when_right, sure_when_wrong = [0.9] * 20 + [0.1] * 20, [0.02] * 20 + [0.04] * 20
    probability = [sure_when_right, sure_when_wrong]
    result = evaluated(tmp_path, "rope", [[0] * 40] * 2, [marks] * 2, curve_rows=2, probability=probability)
    text = calibration_part([result]).text
    # |1 - 0.9|, |0 - 0.1|, |1 - 0.02| and |0 - 0.04|
    assert "| rope | 50.0 | 26.5 | 30.5 |" in text
    # all answers together would have an AUROC of 75 %
    assert "| rope | 50.0 (100.0, 0.0) | 25.0 (50.0, 0.0) | 25.0 (50.0, 0.0) |" in text
