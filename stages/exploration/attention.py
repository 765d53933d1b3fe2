"""Attention of a query to keys, in numpy and without scale, as the exploration's identities are written.

The identities of this package are those of the attention exploration in Stanford CS224N's assignment 5.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def softmax(scores: Array) -> Array:
    """Weights that sum to one over the last axis."""
    weights: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attend(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """c = Σ α_i v_i with α = softmax(k_i·q).

    queries (…, d); keys (n, d), or (…, n, d) for keys of each query's own; values (n, v). Returns c (…, v), α (…, n).
    """
    weights = softmax(np.einsum("...d,...nd->...n", queries, keys))
    return weights @ values, weights


def orthonormal(random: np.random.Generator, vectors: int, dimension: int) -> Array:
    """Random rows (vectors, dimension) of length one, each orthogonal to the others; vectors ≤ dimension."""
    columns, _ = np.linalg.qr(random.standard_normal((dimension, vectors)))
    return np.ascontiguousarray(columns.T)
