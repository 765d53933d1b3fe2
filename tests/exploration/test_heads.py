"""One head against two on keys of which one varies in length."""

import numpy as np
import pytest
from scipy import integrate, stats  # type: ignore[import-untyped]

from stages.exploration.attention import Array, orthonormal
from stages.exploration.heads import draws, one_and_two_heads, shares

ALPHA, BETA, SAMPLES = 1e-8, 12.0, 40_000


def means() -> Array:
    return orthonormal(np.random.default_rng(2), 4, 6)


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
    mu = means()
    keys = draws(np.random.default_rng(3), mu, 0.01, SAMPLES)
    assert keys.shape == (SAMPLES, 4, 6)
    for number in range(4):
        wanted = 0.01 * np.eye(6) + (0.5 * np.outer(mu[0], mu[0]) if number == 0 else 0)
        assert keys[:, number].mean(axis=0) == pytest.approx(mu[number], abs=0.02)
        assert np.cov(keys[:, number].T) == pytest.approx(wanted, abs=0.02)


def test_shares_are_the_mean_of_the_heads() -> None:
    keys = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    queries = np.array([[np.log(3.0), 0.0], [0.0, 0.0]])
    assert shares(keys, queries) == pytest.approx(np.array([[(0.75 + 0.5) / 2, (0.25 + 0.5) / 2]]))


def test_both_distributions_have_the_moments_of_their_formulas() -> None:
    one, two = one_and_two_heads(np.random.default_rng(4), means(), ALPHA, BETA, SAMPLES)
    for found, name in ((one[:, 0], "one"), (two[:, 0], "two")):
        mean, second = expected(name, 1), expected(name, 2)
        spread = np.sqrt(second - mean**2)
        assert found.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(SAMPLES))
        assert found.std() == pytest.approx(spread, rel=0.03)


def test_without_the_added_variance_one_head_is_as_good_as_two() -> None:
    mu = means()
    keys = mu + np.sqrt(ALPHA) * np.random.default_rng(6).standard_normal((500, 4, 6))
    both = BETA * mu[:2]
    for queries in (both, both.sum(axis=0, keepdims=True)):
        assert shares(keys, queries)[:, 0] == pytest.approx(np.full(500, 0.5), abs=0.01)
