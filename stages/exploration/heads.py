"""One head against two where a key varies in length: the share of two values in the output, over draws of the keys."""

import numpy as np
from scipy.special import expit, softmax  # type: ignore[import-untyped]

from stages.exploration.attention import Array


def draws(random: np.random.Generator, means: Array, alpha: float, samples: int, stretch: float = 0.5) -> Array:
    """Keys k_i ~ N(μ_i, αI), the first one ~ N(μ_a, αI + stretch μ_a μ_aᵀ): (samples, n, d).

    means: μ (n, d), orthonormal. For small α the first key's direction is sure, its length is not.
    """
    keys = means + np.sqrt(alpha) * random.standard_normal((samples, *means.shape))
    keys[:, 0] += np.sqrt(stretch) * random.standard_normal((samples, 1)) * means[0]
    return keys


def shares(keys: Array, queries: Array) -> Array:
    """The shares of all values in the mean of the heads' outputs. keys (S, n, d), queries (heads, d) → (S, n)."""
    return softmax(np.einsum("hd,snd->shn", queries, keys), axis=-1).mean(axis=1)


def length_share(lengths: Array, beta: float) -> Array:
    """The formula for the share of v_a with one head, q = β(μ_a + μ_b), where k_a = ε μ_a: 1/(1 + e^{β(1−ε)}).

    The other keys' share, (n − 2)e^{−β} at most, is left out. lengths: ε, of any shape.
    """
    share: Array = expit(beta * (lengths - 1))
    return share


def distances(shares: Array) -> Array:
    """‖c − ½(v_a + v_b)‖ from the shares (S, n) of orthonormal values: (S,)."""
    average = np.zeros(shares.shape[-1])
    average[:2] = 0.5
    return np.linalg.norm(shares - average, axis=-1)


def spread(shares: Array) -> float:
    """E‖c − E c‖² from the shares (S, n) of orthonormal values: the trace of c's covariance."""
    return float(shares.var(axis=0).sum())
