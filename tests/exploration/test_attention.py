"""Copying, averaging and projecting against formulas and by hand."""

import numpy as np
import pytest

from stages.exploration.attention import attend, averaging, averaging_error, copied_share, copying, orthonormal

BETAS = np.array([0.5, 1.0, 3.0, 8.0, 20.0])
RANDOM = np.random.default_rng(1)
KEYS, VALUES = orthonormal(RANDOM, 7, 10), orthonormal(RANDOM, 7, 12)


def test_attention_is_the_weighted_mean_by_hand() -> None:
    output, weights = attend(np.array([np.log(3.0), 0.0]), np.eye(2), np.array([[4.0], [8.0]]))
    assert weights == pytest.approx([0.75, 0.25])  # e^log 3 : e^0
    assert output == pytest.approx([5.0])


def test_copying_and_averaging_follow_their_formulas_and_come_about() -> None:
    assert copying(KEYS, VALUES, BETAS) == pytest.approx(copied_share(BETAS, 7), abs=1e-12)
    errors = averaging(KEYS, VALUES, BETAS)
    assert errors == pytest.approx(averaging_error(BETAS, 7), rel=1e-6, abs=1e-12)
    assert copying(KEYS, VALUES, BETAS)[-1] > 1 - 1e-7 and errors[-1] < 1e-7
