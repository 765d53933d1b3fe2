"""Self-attention over x₁ = u_d + u_b, x₂ = u_a, x₃ = u_c + u_b, the u orthogonal and of equal squared length."""

import numpy as np

from stages.exploration.attention import Array, attend


def inputs(a: Array, b: Array, c: Array, d: Array) -> Array:
    """x₁, x₂, x₃ as rows (3, dimension)."""
    return np.stack([d + b, a, c + b])


def construction(a: Array, b: Array, c: Array, d: Array, every_key: bool = False) -> tuple[Array, Array, Array]:
    """V, K and Q with c₁ ≈ u_b − u_c and c₂ ≈ u_b, for v = V x, k = K x, q = Q x.

    Each is (d, d) and of rank two, a sum of two outer products over the squared length.

    ::

        V = (u_b u_bᵀ − u_c u_cᵀ)/‖u‖²     v₁ = u_b      v₂ = 0      v₃ = u_b − u_c
        K = (u_d u_dᵀ + u_c u_cᵀ)/‖u‖²     k₁ = u_d      k₂ = 0      k₃ = u_c
        Q = (u_c u_dᵀ + u_d u_aᵀ)/‖u‖²     q₁ = u_c      q₂ = u_d    q₃ = 0

    every_key: K = I instead, k = x; k₁ and k₃ then have u_b more, which no query asks for: the scores are the same.
    q₁ meets k₃, which has the value that is wanted, and q₂ meets k₁, with score ‖u‖² against 0; q₃ gets the mean.
    """
    squared = a @ a
    key = np.eye(len(a)) if every_key else (np.outer(d, d) + np.outer(c, c)) / squared
    return (np.outer(b, b) - np.outer(c, c)) / squared, key, (np.outer(c, d) + np.outer(d, a)) / squared


def outputs(x: Array, value: Array, key: Array, query: Array) -> Array:
    """c_i (3, d) of the inputs x (3, d), each attending to all three."""
    return attend(x @ query.T, x @ key.T, x @ value.T)[0]


def construction_errors(squared_length: Array) -> tuple[Array, Array]:
    """The formula for ‖c₁ − (u_b − u_c)‖/‖u‖ and ‖c₂ − u_b‖/‖u‖ with `construction`.

    With E = e^‖u‖² the wanted input has the weight E/(E+2) and the other two 1/(E+2) each: √5/(E+2) and √2/(E+2).
    """
    left = 1 / (np.exp(squared_length) + 2)
    return np.sqrt(5) * left, np.sqrt(2) * left
