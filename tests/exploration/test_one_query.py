"""Copying, averaging and projecting against formulas and by hand."""

import numpy as np
import pytest
from stages.exploration.one_query import (
    averaging,
    averaging_error,
    copied_share,
    copying,
    projection,
)

from stages.exploration.attention import attend, orthonormal, softmax

BETAS = np.array([0.5, 1.0, 3.0, 8.0, 20.0])


@pytest.fixture(name="random")
def random_fixture() -> np.random.Generator:
    return np.random.default_rng(1)


def test_attention_is_the_weighted_mean_by_hand() -> None:
    keys = np.array([[1.0, 0.0], [0.0, 1.0]])
    values = np.array([[4.0], [8.0]])
    output, weights = attend(np.array([np.log(3.0), 0.0]), keys, values)
    assert weights == pytest.approx([0.75, 0.25])  # e^log 3 : e^0
    assert output == pytest.approx([5.0])


def test_softmax_of_large_scores_does_not_overflow() -> None:
    assert softmax(np.array([1e4, 0.0])) == pytest.approx([1.0, 0.0])


def test_orthonormal_rows_are_orthonormal(random: np.random.Generator) -> None:
    rows = orthonormal(random, 5, 9)
    assert rows @ rows.T == pytest.approx(np.eye(5), abs=1e-12)


@pytest.mark.parametrize("wanted", [0, 3])
def test_copying_follows_its_formula_and_copies_any_value(random: np.random.Generator, wanted: int) -> None:
    keys, values = orthonormal(random, 7, 10), random.standard_normal((7, 4))
    shares, distances = copying(keys, values, BETAS, wanted)
    assert shares == pytest.approx(copied_share(BETAS, 7), abs=1e-12)
    assert (np.diff(distances) < 0).all()
    assert distances[-1] < 1e-7


def test_a_query_between_two_keys_averages_them_and_the_error_falls_with_beta(random: np.random.Generator) -> None:
    keys, values = orthonormal(random, 7, 10), orthonormal(random, 7, 12)
    errors = averaging(keys, values, BETAS)
    assert errors == pytest.approx(averaging_error(BETAS, 7), rel=1e-6, abs=1e-12)
    assert errors[-1] < 1e-7


def test_the_projection_takes_the_one_value_out_of_the_sum(random: np.random.Generator) -> None:
    basis = orthonormal(random, 6, 9)
    own, other = basis[:2].T, basis[2:].T  # columns
    matrix = projection(own)
    a, b = own @ [2.0, -3.0], other @ [1.0, 5.0, -2.0, 4.0]
    assert matrix @ (a + b) == pytest.approx(a)
    assert matrix @ matrix == pytest.approx(matrix)
    assert np.linalg.matrix_rank(matrix) == 2
