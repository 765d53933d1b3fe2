"""The matrices V, K and Q do what was asked, and the identity cannot."""

import numpy as np
import pytest

from stages.exploration.attention import Array, orthonormal
from stages.exploration.construction import construction, construction_errors, identity, inputs, outputs


def vectors(squared_length: float) -> Array:
    """u_a, u_b, u_c, u_d as rows."""
    return np.sqrt(squared_length) * orthonormal(np.random.default_rng(7), 4, 11)


def test_the_inputs_are_those_of_the_question() -> None:
    a, b, c, d = np.eye(4)
    assert inputs(a, b, c, d).tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]]


@pytest.mark.parametrize("squared", [1.0, 4.0, 9.0])
def test_the_first_output_is_b_less_c_and_the_second_b(squared: float) -> None:
    a, b, c, d = vectors(squared)
    first, second, third = outputs(inputs(a, b, c, d), construction(a, b, c, d))
    length = np.sqrt(squared)
    said = construction_errors(np.array(squared))
    found = (np.linalg.norm(first - (b - c)) / length, np.linalg.norm(second - b) / length)
    assert found == pytest.approx(said, rel=1e-9)
    assert third == pytest.approx((2 * b - c) / 3)  # its query is zero: the mean of the values


def test_the_matrices_have_rank_two() -> None:
    matrices = construction(*vectors(5.0))
    assert [np.linalg.matrix_rank(each) for each in (matrices.value, matrices.key, matrices.query)] == [2, 2, 2]


def test_with_the_identity_the_second_output_stays_with_its_input_whatever_is_added() -> None:
    a, b, c, d = vectors(30.0)
    for addition in (c, d):
        for factor in (-2.0, 0.0, 0.5, 1.0, 2.0):
            x = inputs(a, b, c, d)
            x[1] += factor * addition
            assert outputs(x, identity(11))[1] == pytest.approx(x[1], abs=1e-6)
