"""Measures of calibration against values reckoned by hand."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import summarise
from stages.reporting.sections.calibration import calibration_error, calibration_part, reliability
from tests.support.example import write_variant


def right(hits: int, of: int) -> list[float]:
    return [1.0] * hits + [0.0] * (of - hits)


def test_bins_and_error_are_the_hand_reckoned() -> None:
    likely, outcome = np.array([0.2] * 20 + [0.8] * 20), np.array(right(6, 20) + right(14, 20))
    assert np.allclose(reliability(likely, outcome), [[20, 0.2, 0.3], [20, 0.8, 0.7]])  # count, confidence, accuracy
    for answers, bins in ((1, 1), (39, 1), (40, 2), (1000, 10)):  # few answers make few bins
        assert len(reliability(np.linspace(0.1, 0.9, answers), np.ones(answers))) == bins
    likely, outcome = np.array([0.2] * 30 + [0.8] * 10), np.array(right(9, 30) + right(5, 10))
    assert calibration_error(likely, outcome) == pytest.approx(0.15)  # (30·0.1 + 10·0.3) / 40


def test_the_table_holds_the_hand_reckoned_of_all_seeds_and_no_test_rows(tmp_path: Path) -> None:
    sure_when_right, marks = [0.9] * 20 + [0.1] * 20, [1] * 20 + [0] * 20
    write_variant(tmp_path, "rope", [[0] * 40] * 2, [marks] * 2, curve_rows=2, probability=[sure_when_right] * 2)
    result = summarise(read_evaluation(tmp_path / "rope"), 40)
    # |1 - 0.9| and |0 - 0.1|; beam and draw are right but for the first 4 and 10 of 40
    assert "| rope | 50.0 | 50.0 | 10.0 | 90.0 | 75.0 |" in calibration_part([result]).text
