"""Tests of significance against published examples, scipy, and what chance alone gives."""

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics.significance import compare_pairs, holm, sign_flip_test


def test_sign_flip_test_gives_fishers_count_of_darwins_maize() -> None:
    """Fisher 1935, The Design of Experiments, section 21: 1,726 of the 2^15 signs, in eighths of an inch."""
    darwin = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
    assert sign_flip_test(darwin) == pytest.approx(1726 / 2**15, rel=1e-12)


def test_sign_flip_test_equals_scipys_exact_permutation_test() -> None:
    for differences in np.random.default_rng(1).integers(-3, 4, size=(5, 11)):
        exact = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
        assert sign_flip_test(differences) == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize(("gained", "lost"), [(150, 86), (3, 3), (0, 1), (0, 0)])
def test_with_one_seed_it_is_the_exact_mcnemar_test(gained: int, lost: int) -> None:
    differences = np.repeat([1, -1, 0], [gained, lost, 40])
    exact = stats.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1
    assert sign_flip_test(differences) == pytest.approx(exact, rel=1e-9)


def test_holm_gives_the_documented_examples() -> None:
    """Examples of pingouin.multicomp and of stdlib's padjust."""
    assert holm([0.50, 0.003, 0.32, 0.054, 0.0003]) == pytest.approx([0.64, 0.012, 0.64, 0.162, 0.0015])
    assert holm([0.319, 0.201, 0.4, 0.374, 0.113]) == pytest.approx([0.957, 0.804, 0.957, 0.957, 0.565])
    assert holm([0.6, 0.6]) == [1, 1]


def test_the_whole_family_is_corrected_and_points_are_percent() -> None:
    right = np.repeat([1, 0], [70, 30])[:, None]
    wrong, half = np.zeros_like(right), np.repeat([1, 0], [66, 34])[:, None]
    correct = {"a": right, "b": wrong, "c": half}
    far, near = compare_pairs(correct, [("a", "b"), ("a", "c")])
    assert (far.points, near.points) == (70.0, 4.0)
    assert near.p == near.corrected_p == pytest.approx(2 / 2**4)  # four questions, all one way
    assert far.corrected_p == pytest.approx(2 * far.p)
    assert far.significant == "yes" and near.significant == "no"
    assert compare_pairs(correct, [("a", "c")])[0].ci_low == near.ci_low  # whatever else is compared


def test_a_difference_that_seeds_could_have_made_is_called_so() -> None:
    seeds = np.zeros((100, 2), dtype=int)
    seeds[:60, 0] = 1  # one seed knows much, the other nothing
    (found,) = compare_pairs({"a": seeds, "b": np.zeros((100, 2), dtype=int)}, [("a", "b")])
    assert found.corrected_p < 0.001 and found.ci_low == 0
    assert found.significant == "for these seeds"
