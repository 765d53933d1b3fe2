"""One head against two on keys of which one varies in length."""

import numpy as np
import pytest
from scipy import integrate, stats  # type: ignore[import-untyped]

from stages.exploration.attention import orthonormal
from stages.exploration.heads import draws, one_and_two_heads

ALPHA, BETA, SAMPLES = 1e-8, 12.0, 40_000


MEANS = orthonormal(np.random.default_rng(2), 4, 6)


def expected(function: str, power: int) -> float:
    """The moment of v_a's share over k_a's length ε ~ N(1, ½), for vanishing α; by quadrature."""

    def one(length: float) -> float:
        return 1 / (1 + np.exp(-BETA * (length - 1)) + 2 * np.exp(-BETA * length))

    def two(length: float) -> float:
        first = 1 / (1 + 3 * np.exp(-BETA * length))
        return (first + 1 / (np.exp(BETA) + 3)) / 2

    share = {"one": one, "two": two}[function]
    density = stats.norm(1, np.sqrt(0.5)).pdf
    return integrate.quad(lambda length: share(length) ** power * density(length), -6, 8, points=[0, 1])[0]


def test_the_drawn_keys_have_the_covariances_that_are_asked_for() -> None:
    keys = draws(np.random.default_rng(3), MEANS, 0.01, SAMPLES)
    for number, more in enumerate((0.5 * np.outer(MEANS[0], MEANS[0]), 0, 0, 0)):
        assert keys[:, number].mean(axis=0) == pytest.approx(MEANS[number], abs=0.02)
        assert np.cov(keys[:, number].T) == pytest.approx(0.01 * np.eye(6) + more, abs=0.02)


def test_both_distributions_have_the_moments_of_their_formulas() -> None:
    one, two = one_and_two_heads(np.random.default_rng(4), MEANS, ALPHA, BETA, SAMPLES)
    for found, name in ((one[:, 0], "one"), (two[:, 0], "two")):
        mean, second = expected(name, 1), expected(name, 2)
        spread = np.sqrt(second - mean**2)
        assert found.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(SAMPLES))
        assert found.std() == pytest.approx(spread, rel=0.03)
