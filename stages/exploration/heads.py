"""One head against two where a key varies in length: the share of two values in the output, over draws of the keys."""

import numpy as np
from scipy.special import softmax  # type: ignore[import-untyped]

from stages.exploration.attention import Array


def draws(random: np.random.Generator, means: Array, alpha: float, samples: int) -> Array:
    """Keys k_i ~ N(μ_i, αI), the first one ~ N(μ_a, αI + ½ μ_a μ_aᵀ): (samples, n, d).

    means: μ (n, d), orthonormal. For small α the first key's direction is sure, its length is not.
    """
    keys = means + np.sqrt(alpha) * random.standard_normal((samples, *means.shape))
    keys[:, 0] += np.sqrt(0.5) * random.standard_normal((samples, 1)) * means[0]
    return keys


def shares(keys: Array, queries: Array) -> Array:
    """The shares of all values in the mean of the heads' outputs. keys (S, n, d), queries (heads, d) → (S, n)."""
    return softmax(np.einsum("hd,snd->shn", queries, keys), axis=-1).mean(axis=1)


def one_and_two_heads(
    random: np.random.Generator, means: Array, alpha: float, beta: float, samples: int
) -> tuple[Array, Array]:
    """Shares of v_a and v_b in c, (samples, 2), with one head and with two, on the same keys.

    One head asks with q = β(μ_a + μ_b), two with q₁ = β μ_a and q₂ = β μ_b, and c is the mean of their outputs.
    """
    both = beta * means[:2]
    keys = draws(random, means, alpha, samples)
    return shares(keys, both.sum(axis=0, keepdims=True))[:, :2], shares(keys, both)[:, :2]
