"""Intervals and tests against published values, scipy, and what follows from the design."""

from math import nan

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics import Marks, accuracy_interval, compare_trainings, holm, seed_variance, wilson


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


def test_holm_gives_the_documented_examples() -> None:
    """Examples of pingouin.multicomp and of stdlib's padjust."""
    assert holm([0.50, 0.003, 0.32, 0.054, 0.0003]) == pytest.approx([0.64, 0.012, 0.64, 0.162, 0.0015])
    assert holm([0.319, 0.201, 0.4, 0.374, 0.113]) == pytest.approx([0.957, 0.804, 0.957, 0.957, 0.565])
    assert holm([0.6, 0.6]) == [1, 1]
    assert holm([nan, 0.02, 0.01]) == pytest.approx([nan, 0.02, 0.02], nan_ok=True)


def trainings(*right: int, questions: int = 1000) -> Marks:
    """A column a training, which knows the first so many questions."""
    return (np.arange(questions)[:, None] < np.array(right)).astype(np.int64)


def test_where_questions_add_nothing_it_is_welchs_test_of_the_trainings() -> None:
    """The same questions are known to both, so that only the trainings differ; scipy has the plain test."""
    first, second = (600, 640, 710), (500, 505, 540, 520)
    scattered = np.random.default_rng(3).random((200_000, 1))
    marks = {
        name: (scattered * 1000 < np.array(right)).astype(np.int64) for name, right in (("a", first), ("b", second))
    }
    (difference,) = compare_trainings(marks, [("a", "b")])
    plain = stats.ttest_ind([right / 10 for right in first], [right / 10 for right in second], equal_var=False)
    assert difference.points == pytest.approx(13.375, abs=0.3)
    assert difference.p == pytest.approx(plain.pvalue, rel=0.1)


@pytest.mark.parametrize(("one", "other"), [(1, 3), (2, 2), (3, 2)])
def test_with_fewer_than_three_seeds_there_is_an_interval_and_no_verdict(one: int, other: int) -> None:
    marks = {"a": trainings(*[70] * one, questions=100), "b": trainings(*[60] * other, questions=100)}
    (difference,) = compare_trainings(marks, [("a", "b")])
    assert np.isnan(difference.p) and np.isnan(difference.corrected_p) and difference.significant == "–"
    error = (0.1 * 0.9 / 99) ** 0.5  # ten of a hundred questions differ
    assert (difference.ci_low, difference.ci_high) == pytest.approx((10 - 196 * error, 10 + 196 * error), abs=0.02)


def test_no_difference_in_any_question_still_has_a_width() -> None:
    marks = {"a": trainings(3, 3, 3, questions=20), "b": trainings(3, 3, 3, questions=20)}
    (difference,) = compare_trainings(marks, [("a", "b")])
    assert (difference.ci_low, difference.ci_high) == pytest.approx(
        (-16.11, 16.11), abs=0.01
    )  # Wilson's bound on 0 of 20
    assert (difference.p, difference.significant) == (1.0, "no")
