"""Intervals against published values, a plain analysis of variance and what follows from the design."""

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics import Marks, accuracy_interval, seed_variance, wilson


def marks(right: int, questions: int, seeds: int = 1) -> Marks:
    """The first `right` questions right by every seed."""
    return np.repeat((np.arange(questions) < right).astype(np.int64)[:, None], seeds, axis=1)


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_one_or_two_seeds_have_wilsons_interval(hits: int, trials: int, low: float, high: float) -> None:
    """Values: Newcombe 1998, Statistics in Medicine 17, table I, method 3."""
    assert wilson(hits / trials, trials) == pytest.approx((low, high), abs=5e-5)
    assert (
        accuracy_interval(marks(hits, trials))
        == accuracy_interval(marks(hits, trials, seeds=2))
        == wilson(hits / trials, trials)
    )


def test_the_interval_of_two_seeds_lies_around_their_mean() -> None:
    both = np.hstack([marks(52, 100), marks(53, 100)])
    of_52, of_53 = accuracy_interval(both[:, :1]), accuracy_interval(both[:, 1:])
    assert accuracy_interval(both) == pytest.approx(np.mean([of_52, of_53], axis=0), abs=1e-4)


def test_seeds_that_agree_leave_the_interval_of_the_questions() -> None:
    low, high = accuracy_interval(marks(136, 500, seeds=3))
    error = (0.272 * 0.728 / 499) ** 0.5
    assert (low, high) == pytest.approx((0.272 - 1.965 * error, 0.272 + 1.965 * error), abs=1e-4)  # t of 499 degrees


def test_seeds_that_differ_on_all_questions_alike_leave_the_interval_of_the_seeds() -> None:
    """Student's t of two degrees is the interval of three accuracies."""
    by_seed = np.array([0.4, 0.5, 0.6])
    drawn = np.random.default_rng(1).random((20_000, 3)) < by_seed  # what questions add is next to nothing
    expected = stats.t.interval(0.95, 2, by_seed.mean(), by_seed.std(ddof=1) / 3**0.5)
    assert accuracy_interval(drawn.astype(np.int64)) == pytest.approx(expected, abs=0.01)


def test_the_parts_are_those_of_an_analysis_of_variance() -> None:
    """Reckoned by hand: seeds 3/4, 1/4, 2/4; cells less row mean less column mean plus mean."""
    table = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    of_seeds, shared = seed_variance(table)
    assert of_seeds == pytest.approx(0.0625 / 3)  # the variance of 3/4, 1/4, 1/2, over three seeds
    # squares: all 2.5 + ... = 3 (total) - 0.5 (seeds) - 5/3 (questions), on 2 * 3 degrees, over the 12 cells
    assert shared == pytest.approx((3 - 0.5 - 5 / 3) / 6 / 12)


def test_without_any_difference_the_interval_is_wilsons_of_the_questions() -> None:
    bound = 3.841459 / (500 + 3.841459)  # z² / (n + z²)
    for seeds in (1, 3):
        assert accuracy_interval(marks(0, 500, seeds)) == pytest.approx((0.0, bound), abs=1e-6)
        assert accuracy_interval(marks(500, 500, seeds)) == pytest.approx((1 - bound, 1.0), abs=1e-6)
