"""What one query can do: copy a value, average two; and what a projection takes from their sum."""

import numpy as np

from stages.exploration.attention import Array, attend


def copying(keys: Array, values: Array, betas: Array, wanted: int = 0) -> tuple[Array, Array]:
    """q = β k_j copies v_j: with orthonormal keys, α_j = e^β / (e^β + n − 1).

    keys (n, d) orthonormal, values (n, v), betas (b,). Returns α_j (b,) and the distances ‖c − v_j‖ (b,).
    """
    outputs, weights = attend(betas[:, None] * keys[wanted], keys, values)
    return weights[:, wanted], np.linalg.norm(outputs - values[wanted], axis=1)


def copied_share(betas: Array, pairs: int) -> Array:
    """The formula of `copying`: α_j for orthonormal keys."""
    return 1 / (1 + (pairs - 1) * np.exp(-betas))


def averaging(keys: Array, values: Array, betas: Array) -> Array:
    """q = β(k_a + k_b) averages v_a and v_b, here the first two; ‖c − ½(v_a + v_b)‖ (b,) for betas (b,)."""
    outputs, _ = attend(betas[:, None] * (keys[0] + keys[1]), keys, values)
    return np.linalg.norm(outputs - values[:2].mean(axis=0), axis=1)


def averaging_error(betas: Array, pairs: int) -> Array:
    """The formula of `averaging` for orthonormal keys and orthonormal values.

    The other n − 2 values keep a share s = (n−2)/(2e^β + n−2), so c − ½(v_a + v_b) = s (their mean − ½(v_a + v_b)).
    """
    others = pairs - 2
    share = others / (2 * np.exp(betas) + others)
    return share * np.sqrt(1 / others + 1 / 2)


def projection(basis: Array) -> Array:
    """M = A Aᵀ for orthonormal columns A (d, m), spanning v_a's values: M (v_a + v_b) = v_a if v_b is orthogonal to A.

    Because v_a = A x gives A Aᵀ A x = A x, and Aᵀ v_b = 0.
    """
    return basis @ basis.T
