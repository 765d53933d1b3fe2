"""Tests of significance against published examples and scipy."""

from math import nan

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics import Marks, compare_trainings, holm


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
