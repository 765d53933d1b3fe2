"""Intervals against published values, scipy's bootstrap and what follows from the design."""

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics.intervals import (
    Marks,
    accuracy_interval,
    difference_interval,
    resampled_means,
    wilson,
)


def marks(right: int, questions: int, seeds: int = 1) -> Marks:
    """The first `right` questions right by every seed."""
    return np.repeat((np.arange(questions) < right).astype(np.int64)[:, None], seeds, axis=1)


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_one_seed_has_wilsons_interval(hits: int, trials: int, low: float, high: float) -> None:
    """Values: Newcombe 1998, Statistics in Medicine 17, table I, method 3."""
    assert wilson(hits, trials) == pytest.approx((low, high), abs=5e-5)
    assert accuracy_interval(marks(hits, trials), "rope") == wilson(hits, trials)


def test_the_spread_between_seeds_is_in_the_interval() -> None:
    exact = stats.binom.ppf([0.025, 0.975], 500, 136 / 500) / 500  # seeds that agree add nothing
    assert accuracy_interval(marks(136, 500, seeds=3), "rope") == pytest.approx(tuple(exact), abs=1.5 / 500)
    # one seed right for everything, one for nothing: 0, 1 or 2 draws of the first, at 1/4, 1/2, 1/4
    apart = np.tile(np.array([[1, 0]]), (50, 1))
    means = resampled_means(apart, "rope")
    assert np.unique(means.round(9)).tolist() == [0, 0.5, 1]
    assert np.mean(means == 0.5) == pytest.approx(0.5, abs=0.02)
    assert accuracy_interval(apart, "rope") == (0, 1)
    # drawn together, the like-named seeds of two variants would cancel out
    assert difference_interval(means, resampled_means(apart, "vanilla"), 50) == (-1, 1)


def test_where_all_resamples_are_alike_the_interval_is_wilsons_of_the_questions() -> None:
    bound = 3.841459 / (500 + 3.841459)  # z² / (n + z²)
    for seeds in (1, 3):
        assert accuracy_interval(marks(0, 500, seeds), "rope") == pytest.approx((0.0, bound), abs=1e-6)
        assert accuracy_interval(marks(500, 500, seeds), "rope") == pytest.approx((1 - bound, 1.0), abs=1e-6)


def test_differences_are_paired_by_question() -> None:
    """Against scipy's bootstrap of the differences; unpaired, the interval would be much wider."""
    first, second = marks(60, 100), marks(50, 100)  # all the second knows, the first knows too
    low, high = difference_interval(resampled_means(first, "a"), resampled_means(second, "b"), 100)
    by_question = (first - second)[:, 0].astype(float)
    bootstrap = stats.bootstrap((by_question,), np.mean, method="percentile", rng=np.random.default_rng(5))
    assert (low, high) == pytest.approx(tuple(bootstrap.confidence_interval), abs=0.0101)
    assert high - low < 0.13 < 2 * 1.96 * (2 * 0.25 / 100) ** 0.5  # the unpaired width


def test_no_difference_in_any_question_still_has_a_width() -> None:
    same = resampled_means(marks(3, 20), "a")
    low, high = difference_interval(same, same, 20)
    assert (low, high) == pytest.approx((-0.1611, 0.1611), abs=5e-5)  # Wilson's bound on 0 of 20
    everything = difference_interval(resampled_means(marks(20, 20), "a"), resampled_means(marks(0, 20), "b"), 20)
    assert everything == pytest.approx((1 - 0.1611, 1), abs=5e-5)
