"""Measures of calibration against values reckoned by hand."""

import numpy as np
import pytest

from stages.reporting.statistics.calibration import (
    accuracy_at,
    brier_score,
    coverage_curve,
    expected_calibration_error,
    reliability,
)


def right(hits: int, of: int) -> list[float]:
    return [1.0] * hits + [0.0] * (of - hits)


LIKELY = np.array([0.2] * 20 + [0.8] * 20)
OUTCOME = np.array(right(6, 20) + right(14, 20))


def test_bins_and_error_are_the_hand_reckoned() -> None:
    bins = reliability(LIKELY, OUTCOME)
    assert np.allclose(bins, [[20, 0.2, 0.3], [20, 0.8, 0.7]])  # count, confidence, accuracy
    assert expected_calibration_error(LIKELY, OUTCOME) == pytest.approx(0.1)  # (20·0.1 + 20·0.1) / 40


def test_error_weighs_bins_by_their_answers() -> None:
    likely = np.array([0.2] * 30 + [0.8] * 10)  # equals are not parted
    assert expected_calibration_error(likely, np.array(right(9, 30) + right(5, 10))) == pytest.approx(
        0.15
    )  # of 0.1, 0.3


def test_a_calibrated_model_has_little_error_and_an_inverted_one_much() -> None:
    generator = np.random.default_rng(0)
    probability = generator.random(20_000)
    outcome = (generator.random(20_000) < probability).astype(float)
    assert expected_calibration_error(probability, outcome) < 0.02
    assert expected_calibration_error(1 - probability, outcome) == pytest.approx(0.5, abs=0.02)


def test_bins_are_of_equal_mass_whatever_the_order() -> None:
    probability = np.random.default_rng(0).random(500) ** 4  # most are small
    outcome = (probability > 0.3).astype(float)
    bins = reliability(probability, outcome)
    assert bins["count"].tolist() == [50] * 10
    assert bins["confidence"].is_monotonic_increasing
    mixed = np.random.default_rng(1).permutation(500)
    assert np.allclose(reliability(probability[mixed], outcome[mixed]), bins)


@pytest.mark.parametrize(("answers", "bins"), [(1, 1), (39, 1), (40, 2), (200, 10), (1000, 10)])
def test_few_answers_make_few_bins(answers: int, bins: int) -> None:
    assert len(reliability(np.linspace(0.1, 0.9, answers), np.ones(answers))) == bins


def test_equal_probabilities_are_one_bin_in_any_order() -> None:
    same, outcome = np.full(200, 0.5), np.array(right(50, 200))
    assert len(reliability(same, outcome)) == 1
    assert expected_calibration_error(same, outcome) == pytest.approx(0.25)
    assert accuracy_at(0.5, same, outcome) == pytest.approx(0.25)
    assert accuracy_at(0.5, same, outcome[::-1]) == pytest.approx(0.25)


def test_brier_score_of_the_documented_example() -> None:
    """Of scikit-learn's brier_score_loss."""
    assert brier_score(np.array([0.1, 0.9, 0.8, 0.3]), np.array([0.0, 1.0, 1.0, 0.0])) == pytest.approx(0.0375)
    assert brier_score(np.array([1.0, 0.0]), np.array([1.0, 0.0])) == 0


def test_accuracy_at_coverage_by_hand() -> None:
    probability, outcome = np.array([0.9, 0.8, 0.8, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])
    curve = coverage_curve(probability, outcome)
    assert curve["coverage"].tolist() == [0.25, 0.75, 1]  # the two alike come together
    assert curve["accuracy"].tolist() == pytest.approx([1, 2 / 3, 1 / 2])
    assert accuracy_at(0.25, probability, outcome) == 1
    assert accuracy_at(0.5, probability, outcome) == pytest.approx(0.75)  # the first, and one of the two alike
    assert accuracy_at(1, probability, outcome) == pytest.approx(0.5)
