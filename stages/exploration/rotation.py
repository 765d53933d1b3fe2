"""Rotary positions make a score depend on the distance t − s only (Su et al. 2021, arXiv 2104.09864)."""

import numpy as np

from stages.exploration.attention import Array

THETA = 10000.0  # the paper's base of the wavelengths


def rotated(vectors: Array, positions: Array) -> Array:
    """Turn pair i of channels, (i, i + d/2), by position · θ^(−2i/d): as complex numbers, times e^{i·angle}.

    vectors (…, d), positions (…) broadcast against each other; returns (…, d).
    """
    half = vectors.shape[-1] // 2
    turn = THETA ** (-np.arange(half) / half)
    pairs = (vectors[..., :half] + 1j * vectors[..., half:]) * np.exp(1j * positions[..., None] * turn)
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def rotary_scores(query: Array, key: Array, positions: int) -> Array:
    """Scores (t, s) of one query and one key, (d,) each, rotated to all positions: Re Σ q_i k̄_i e^{i(t−s)θ_i}."""
    places = np.arange(positions, dtype=np.float64)
    return rotated(query, places) @ rotated(key, places).T


def added_scores(query: Array, key: Array, vectors: Array) -> Array:
    """Scores (t, s) with a vector of the position's own, (t, d), added to query and key, as learned positions are."""
    return (query + vectors) @ (key + vectors).T


def spread_by_distance(scores: Array) -> Array:
    """Largest less smallest score among the pairs of each distance t − s = 0, 1, …; scores (t, s) → (t,)."""
    return np.array([np.ptp(np.diagonal(scores, -distance)) for distance in range(len(scores))])
