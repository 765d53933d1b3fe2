"""The matrices V, K and Q do what was asked, and the identity cannot."""

import numpy as np
import pytest

from stages.exploration.attention import Array, construction, construction_errors, inputs, orthonormal, outputs


def vectors(squared_length: float) -> Array:
    """u_a, u_b, u_c, u_d as rows."""
    return np.sqrt(squared_length) * orthonormal(np.random.default_rng(7), 4, 11)


@pytest.mark.parametrize("squared", [1.0, 4.0, 9.0])
def test_the_first_output_is_b_less_c_and_the_second_b(squared: float) -> None:
    a, b, c, d = vectors(squared)
    first, second, third = outputs(inputs(a, b, c, d), *construction(a, b, c, d))
    length = np.sqrt(squared)
    said = construction_errors(np.array(squared))
    found = (np.linalg.norm(first - (b - c)) / length, np.linalg.norm(second - b) / length)
    assert found == pytest.approx(said, rel=1e-9)
    assert third == pytest.approx((2 * b - c) / 3)  # its query is zero: the mean of the values


def test_with_the_identity_the_second_output_stays_with_its_input_whatever_is_added() -> None:
    a, b, c, d = vectors(30.0)
    for addition in (0 * c, 2 * c, -d):
        x = inputs(a + addition, b, c, d)
        assert outputs(x, *[np.eye(11)] * 3)[1] == pytest.approx(x[1], abs=1e-6)
