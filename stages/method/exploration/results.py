"""All of the exploration: what is drawn, computed and compared with its formula."""

from dataclasses import dataclass

import numpy as np

from stages.method.exploration import attention
from stages.method.exploration.attention import Array

SEED = 2021
DIMENSION, PAIRS = 64, 16  # of keys, queries and values; keys, each with its value
BETAS = np.array([1.0, 2, 3, 4, 6, 8, 10, 12, 16, 20])  # lengths of the query in units of a key's
ALPHA = 1e-6  # variance of the keys in every direction where they are drawn
SAMPLES = 10_000  # draws of the keys
OFF = 0.1  # ‖c − ½(v_a + v_b)‖ beyond which c is not the average
POSITIONS = 16  # of queries and keys for the rotation


@dataclass(frozen=True)
class Exploration:
    """What was computed, and how far it is off; other numbers by name."""

    errors: dict[str, tuple[Array, Array]]  # at BETAS, computed by attention and by the formula
    lengths: Array  # (samples,): ε, of the first key along its mean
    one_head: Array  # (samples, n): shares of the values
    numbers: dict[str, float]


def explore(samples: int = SAMPLES) -> Exploration:
    """Compute the exploration; the same each time."""
    random = np.random.default_rng(SEED)
    keys, values = attention.orthonormal(random, PAIRS, DIMENSION), attention.orthonormal(random, PAIRS, DIMENSION)
    vectors = attention.orthonormal(random, 4, DIMENSION)
    first, second = _errors(vectors)
    first_formula, second_formula = attention.construction_errors(BETAS)
    copied, off_average = attention.copying(keys, values, BETAS), attention.averaging(keys, values, BETAS)
    errors = {
        "copying: weight not on v_a": (1 - copied, 1 - attention.copied_share(BETAS, PAIRS)),
        "average: ‖c − ½(v_a + v_b)‖": (off_average, attention.averaging_error(BETAS, PAIRS)),
        "construction: ‖c₁ − (u_b − u_c)‖/‖u‖": (first, first_formula),
        "construction: ‖c₂ − u_b‖/‖u‖": (second, second_formula),
    }
    beta = float(BETAS[-1])
    both = beta * keys[:2]  # the queries of two heads
    their_sum = both.sum(axis=0, keepdims=True)  # that of one head
    drawn = attention.draws(random, keys, ALPHA, samples)
    one, two = attention.shares(drawn, their_sum), attention.shares(drawn, both)
    lengths = drawn[:, 0] @ keys[0]
    steady = attention.shares(attention.draws(random, keys, ALPHA, samples, stretch=0.0), their_sum)
    weights = attention.attend(random.standard_normal((samples, DIMENSION)), keys, values)[1]
    query, key = random.standard_normal((2, DIMENSION)) / DIMENSION**0.25  # scores of the order of one
    added = random.standard_normal((POSITIONS, DIMENSION)) / 2 / DIMENSION**0.25
    numbers = {
        "formulas": max(float(np.abs(found - formula).max()) for found, formula in errors.values()),
        "projection": _projection_error(keys, random),
        "least_weight": float(weights.min()),
        "sum_of_weights": float(np.abs(weights.sum(axis=1) - 1).max()),
        "every_key": float(np.abs(_errors(vectors, every_key=True) - (first, second)).max()),
        "steady": float(attention.distances(steady).max()),
        "curve": float(np.abs(one[:, 0] - attention.length_share(lengths, beta)).max()),
        "spread_one": attention.spread(one),
        "spread_two": attention.spread(two),
        "off_one": float((attention.distances(one) > OFF).mean()),
        "off_two": float((attention.distances(two) > OFF).mean()),
        "identity": _nearest_with_identity(np.sqrt(BETAS[-1]) * vectors),
        "rotary": float(attention.spread_by_distance(attention.rotary_scores(query, key, POSITIONS)).max()),
        "added": float(attention.spread_by_distance((query + added) @ (key + added).T).max()),
    }
    return Exploration(errors, lengths, one, numbers)


def _errors(vectors: Array, every_key: bool = False) -> Array:
    """The relative errors of c₁ and c₂ (2, b) for u of squared lengths BETAS."""
    errors = []
    for squared in BETAS:
        a, b, c, d = np.sqrt(squared) * vectors
        x, matrices = attention.inputs(a, b, c, d), attention.construction(a, b, c, d, every_key)
        first, second, _ = attention.outputs(x, *matrices)
        errors.append(np.array([np.linalg.norm(first - (b - c)), np.linalg.norm(second - b)]) / np.linalg.norm(a))
    return np.transpose(errors)


def _nearest_with_identity(vectors: Array) -> float:
    """The least ‖c₂ − u_b‖/‖u‖ with V = K = Q = I, whatever multiple of u_c or u_d is added to x₂."""
    a, b, c, d = vectors
    added = [factor * addition for addition in (c, d) for factor in np.linspace(-3, 3, 61)]
    same = [np.eye(len(b))] * 3
    outputs = [attention.outputs(attention.inputs(a + each, b, c, d), *same) for each in added]
    nearest = min(np.linalg.norm(output[1] - b) for output in outputs)
    return float(nearest / np.linalg.norm(b))


def _projection_error(basis: Array, random: np.random.Generator) -> float:
    """‖M(v_a + v_b) − v_a‖ for random v_a in the span of half of the basis' rows and v_b in that of the others.

    M = A Aᵀ for orthonormal columns A (d, m): M (v_a + v_b) = v_a if v_a = A x and Aᵀ v_b = 0.
    """
    own, other = np.split(basis, 2)
    a, b = random.standard_normal(len(own)) @ own, random.standard_normal(len(other)) @ other
    return float(np.linalg.norm(own.T @ own @ (a + b) - a))
