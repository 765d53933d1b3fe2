"""All of the exploration: what is drawn, computed, and compared with its formula."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stages.exploration.attention import Array, orthonormal
from stages.exploration.construction import construction, construction_errors, identity, inputs, outputs
from stages.exploration.heads import one_and_two_heads
from stages.exploration.one_query import (
    averaging,
    averaging_error,
    beta_for_share,
    copied_share,
    copying,
    projection,
)
from stages.exploration.rotation import added_scores, rotary_scores, spread_by_distance
from stages.settings import Explore

WANTED_SHARE = 0.99  # of the weight, where copying counts as done
FINE = 200  # points of a formula's line
DRAWS = 100  # pairs of values that are added and taken apart


@dataclass(frozen=True)
class Line:
    """A quantity at the betas of the settings, and its formula on a fine grid."""

    name: str
    found: Array
    formula: Array


@dataclass(frozen=True)
class Exploration:
    """What was computed: errors against β, shares of two values, scores of pairs of positions; and the figures."""

    betas: Array
    fine: Array
    errors: tuple[Line, ...]
    one_head: Array  # (samples, 2): shares of v_a and v_b
    two_heads: Array
    rotary: Array  # (t, s) scores
    added: Array
    figures: dict[str, Any]


def explore(settings: Explore) -> Exploration:
    """Compute the exploration; the same settings give the same numbers."""
    random = np.random.default_rng(settings.seed)
    d, n = settings.dimension, settings.pairs
    keys, values = orthonormal(random, n, d), orthonormal(random, n, d)
    betas = np.array(settings.betas)
    fine = np.linspace(betas[0], betas[-1], FINE)

    shares, _ = copying(keys, values, betas)
    averages = averaging(keys, values, betas)
    vectors = orthonormal(random, 4, d)
    first, second, stays = _constructed(vectors, betas)
    (first_formula, second_formula), fine_formulas = construction_errors(betas), construction_errors(fine)
    one, two = one_and_two_heads(random, keys, settings.alpha, float(betas[-1]), settings.samples)
    query, key = random.standard_normal((2, d)) / d**0.25  # scores of the order of one
    rotary = rotary_scores(query, key, settings.positions)
    added = added_scores(query, key, random.standard_normal((settings.positions, d)) / 2 / d**0.25)
    taken, left = _projected(random, d, n)
    figures = {
        "pairs": n,
        "dimension": d,
        "samples": settings.samples,
        "alpha": settings.alpha,
        "largest_beta": float(betas[-1]),
        "copying": {
            "wanted_share": WANTED_SHARE,
            "needed_beta": beta_for_share(WANTED_SHARE, n),
            "largest_share": float(shares.max()),
            "off_formula": _largest(shares - copied_share(betas, n)),
        },
        "averaging": {
            "smallest_error": float(averages.min()),
            "off_formula": _largest(averages - averaging_error(betas, n)),
        },
        "projection": {"error": taken, "left_of_other": left, "draws": DRAWS},
        "heads": {"one": _spread(one), "two": _spread(two)},
        "construction": {
            "first_error": float(first[-1]),
            "second_error": float(second[-1]),
            "off_formula": max(_largest(first - first_formula), _largest(second - second_formula)),
            "identity_distance": stays,
        },
        "rotation": {
            "positions": settings.positions,
            "rotary_spread": float(spread_by_distance(rotary).max()),
            "added_spread": float(spread_by_distance(added).max()),
            "rotary_range": float(np.ptp(rotary)),
        },
    }
    errors = (
        Line("copying: weight not on v_a", 1 - shares, 1 - copied_share(fine, n)),
        Line("average: ‖c − ½(v_a + v_b)‖", averages, averaging_error(fine, n)),
        Line("construction: ‖c₁ − (u_b − u_c)‖/‖u‖", first, fine_formulas[0]),
        Line("construction: ‖c₂ − u_b‖/‖u‖", second, fine_formulas[1]),
    )
    return Exploration(betas, fine, errors, one, two, rotary, added, figures)


def _constructed(vectors: Array, betas: Array) -> tuple[Array, Array, float]:
    """Relative errors of c₁ and c₂ at squared lengths `betas`, and how far c₂ is from u_b with V = K = Q = I.

    vectors: (4, d) orthonormal, the directions of u_a … u_d. The last is the nearest of many attempts to add u_c or u_d
    to x₂, at the longest u.
    """
    first, second = [], []
    for squared in betas:
        a, b, c, d = np.sqrt(squared) * vectors
        output = outputs(inputs(a, b, c, d), construction(a, b, c, d))
        first.append(np.linalg.norm(output[0] - (b - c)) / np.sqrt(squared))
        second.append(np.linalg.norm(output[1] - b) / np.sqrt(squared))
    distances = []
    for addition in (c, d):
        for factor in np.linspace(-3, 3, 61):
            x = inputs(a, b, c, d)
            x[1] += factor * addition
            distances.append(np.linalg.norm(outputs(x, identity(len(b)))[1] - b) / np.sqrt(betas[-1]))
    return np.array(first), np.array(second), float(min(distances))


def _projected(random: np.random.Generator, dimension: int, vectors: int) -> tuple[float, float]:
    """Over random v_a and v_b: the largest ‖M(v_a + v_b) − v_a‖, and the largest ‖M v_b‖."""
    basis = orthonormal(random, vectors, dimension)
    half = vectors // 2
    own, other = basis[:half], basis[half:]
    matrix = projection(own.T)
    a = random.standard_normal((DRAWS, len(own))) @ own
    b = random.standard_normal((DRAWS, len(other))) @ other
    return _largest(np.linalg.norm((a + b) @ matrix.T - a, axis=1)), _largest(np.linalg.norm(b @ matrix.T, axis=1))


def _spread(shares: Array) -> dict[str, float]:
    """Means and standard deviations of the shares of v_a and v_b."""
    (mean_a, mean_b), (std_a, std_b) = shares.mean(axis=0), shares.std(axis=0)
    return {"mean_a": float(mean_a), "std_a": float(std_a), "mean_b": float(mean_b), "std_b": float(std_b)}


def _largest(differences: Array) -> float:
    return float(np.abs(differences).max())
