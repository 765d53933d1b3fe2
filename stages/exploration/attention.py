"""Attention of a query to keys, in numpy and without scale; what one query can do: copy a value, average two.

The identities of this package are those of the attention exploration in Stanford CS224N's assignment 5.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import softmax  # type: ignore[import-untyped]

Array = npt.NDArray[np.float64]


def attend(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """c = Σ α_i v_i with α = softmax(k_i·q).

    queries (…, d); keys (n, d), or (…, n, d) for keys of each query's own; values (n, v). Returns c (…, v), α (…, n).
    """
    weights: Array = softmax(np.einsum("...d,...nd->...n", queries, keys), axis=-1)
    return weights @ values, weights


def orthonormal(random: np.random.Generator, vectors: int, dimension: int) -> Array:
    """Random rows (vectors, dimension) of length one, each orthogonal to the others; vectors ≤ dimension."""
    columns, _ = np.linalg.qr(random.standard_normal((dimension, vectors)))
    return np.ascontiguousarray(columns.T)


def copying(keys: Array, values: Array, betas: Array) -> Array:
    """q = β k_a copies v_a, here the first: with n orthonormal keys (n, d), its weight is e^β / (e^β + n − 1) (b,)."""
    return attend(betas[:, None] * keys[0], keys, values)[1][:, 0]


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
    """M = A Aᵀ for orthonormal columns A (d, m): M (v_a + v_b) = v_a if v_a = A x and Aᵀ v_b = 0."""
    return basis @ basis.T
