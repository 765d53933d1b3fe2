"""Attention of a query to keys, in numpy and without scale: what one query, one head or two, and a rotation can do.

Its identities are those of the attention exploration in Stanford CS224N's assignment 5.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax  # type: ignore[import-untyped]

Array = npt.NDArray[np.float64]

THETA = 10000.0  # rope's base of the wavelengths (Su et al. 2021, arXiv 2104.09864)


def attend(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """c = Σ α_i v_i with α = softmax(k_i·q).

    queries (…, d), keys (n, d), values (n, v). Returns c (…, v), α (…, n).
    """
    weights: Array = softmax(np.einsum("...d,nd->...n", queries, keys), axis=-1)
    return weights @ values, weights


def orthonormal(random: np.random.Generator, vectors: int, dimension: int) -> Array:
    """Draw rows (vectors, dimension) of length one, each orthogonal to the others; vectors ≤ dimension."""
    columns, _ = np.linalg.qr(random.standard_normal((dimension, vectors)))
    return np.ascontiguousarray(columns.T)


def keys_at_cosine(basis: Array, cosine: float) -> Array:
    """Return keys (n, d) of length one, each at the same cosine, 0 ≤ cosine < 1, to every other.

    basis: (n, d), orthonormal. With G = L Lᵀ for the wanted inner products G, the rows of L basis have these.
    """
    products = np.full((len(basis), len(basis)), cosine)
    np.fill_diagonal(products, 1)
    return np.linalg.cholesky(products) @ basis


def copying_length(error: float, keys: int, cosine: float) -> float:
    """Return the β at which q = β k_a leaves the weight `error` to the other keys, each two at a cosine.

    Their scores are β and β cosine, so that error = 1 − 1/(1 + (n − 1)e^{−β(1 − cosine)}).
    """
    return float(np.log((keys - 1) * (1 / error - 1)) / (1 - cosine))


def construction(a: Array, b: Array, c: Array, d: Array, every_key: bool = False) -> tuple[Array, Array, Array]:
    """V, K and Q with c₁ ≈ u_b − u_c and c₂ ≈ u_b for x₁ = u_d + u_b, x₂ = u_a, x₃ = u_c + u_b.

    The u are orthogonal and of equal length; v = V x, k = K x, q = Q x. Each matrix is (d, d) and of rank two.

    ::

        V = (u_b u_bᵀ − u_c u_cᵀ)/‖u‖²     v₁ = u_b      v₂ = 0      v₃ = u_b − u_c
        K = (u_d u_dᵀ + u_c u_cᵀ)/‖u‖²     k₁ = u_d      k₂ = 0      k₃ = u_c
        Q = (u_c u_dᵀ + u_d u_aᵀ)/‖u‖²     q₁ = u_c      q₂ = u_d    q₃ = 0

    q₁ meets k₃, whose value is the wanted one, and q₂ meets k₁, with score ‖u‖² against 0; q₃ gets the mean.
    every_key: K = I instead, k = x; k₁ and k₃ then have u_b more, which no query asks for: the scores are the same.
    """
    squared = a @ a
    key = np.eye(len(a)) if every_key else (np.outer(d, d) + np.outer(c, c)) / squared
    return (np.outer(b, b) - np.outer(c, c)) / squared, key, (np.outer(c, d) + np.outer(d, a)) / squared


def draws(random: np.random.Generator, means: Array, alpha: float, samples: int, stretch: float = 0.5) -> Array:
    """Draw keys k_i ~ N(μ_i, αI), the first one ~ N(μ_a, αI + stretch μ_a μ_aᵀ): (samples, n, d).

    means: μ (n, d), orthonormal. For small α the first key's direction is sure, its length is not.
    """
    keys = means + np.sqrt(alpha) * random.standard_normal((samples, *means.shape))
    keys[:, 0] += np.sqrt(stretch) * random.standard_normal((samples, 1)) * means[0]
    return keys


def shares(keys: Array, queries: Array) -> Array:
    """Return each value's share of the mean of the heads' outputs: keys (S, n, d), queries (heads, d) → (S, n)."""
    return softmax(np.einsum("hd,snd->shn", queries, keys), axis=-1).mean(axis=1)


def length_share(lengths: Array, beta: float) -> Array:
    """Return the formula for the share of v_a with one head, q = β(μ_a + μ_b), where k_a = ε μ_a: 1/(1 + e^{β(1−ε)}).

    The other keys' share, (n − 2)e^{−β} at most, is left out. lengths: ε, of any shape.
    """
    return expit(beta * (lengths - 1))


def distances(shares: Array) -> Array:
    """‖c − ½(v_a + v_b)‖ from the shares (S, n) of orthonormal values: (S,)."""
    average = np.zeros(shares.shape[-1])
    average[:2] = 0.5
    return np.linalg.norm(shares - average, axis=-1)


def rotary_scores(query: Array, key: Array, positions: int) -> Array:
    """Scores (t, s) of one query and one key, (d,) each, rotated to all positions: Re Σ q_i k̄_i e^{i(t−s)θ_i}."""
    places = np.arange(positions, dtype=np.float64)
    return rotated(query, places) @ rotated(key, places).T


def rotated(vectors: Array, positions: Array) -> Array:
    """Turn pair i of channels, (i, i + d/2), by position · θ^(−2i/d): as complex numbers, times e^{i·angle}.

    vectors (…, d), positions (…) broadcast against each other; returns (…, d).
    """
    half = vectors.shape[-1] // 2
    turn = THETA ** (-np.arange(half) / half)
    pairs = (vectors[..., :half] + 1j * vectors[..., half:]) * np.exp(1j * positions[..., None] * turn)
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def spread_by_distance(scores: Array) -> Array:
    """Largest less smallest score among the pairs of each distance t − s = 0, 1, …; scores (t, s) → (t,)."""
    return np.array([np.ptp(np.diagonal(scores, -distance)) for distance in range(len(scores))])
