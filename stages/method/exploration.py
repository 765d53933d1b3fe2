"""Attention by hand: figures that are computed and compared with their formulas, and the pictures."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.stats import norm  # type: ignore[import-untyped]

from stages.method import attention
from stages.method.attention import Array
from stages.reporting.style import COLOURS, WIDTH, logarithmic, svg
from stages.reporting.template import Part, fill

SEED = 2021
DIMENSION = 64  # the length of keys, queries and values
PAIRS = 16  # keys, each with its value
BETAS = np.array([1.0, 2, 3, 4, 6, 8, 10, 12, 16, 20])  # lengths of the query in units of a key's
BETA = float(BETAS[-1])
COSINES = (0.0, 0.5, 0.8, 0.9, 0.95)  # between any two keys that are alike
COPY_ERROR = 0.01  # the weight that a copy may leave to other values
ALPHA = 1e-6  # variance of the keys in every direction where they are drawn
SAMPLES = 10_000  # draws of the keys
FACTORS = np.linspace(-3, 3, 61)  # multiples of u_c or u_d that are added to an input
OFF = 0.1  # ‖c − ½(v_a + v_b)‖ beyond which c is not the average
POSITIONS = 16  # of queries and keys in the rotation
DOTS = 300  # draws that the picture shows


@dataclass(frozen=True)
class Copy:
    """A copy among keys that are alike."""

    cosine: float  # between any two keys
    error: float  # weight of the other values at BETA
    length: float  # β that leaves COPY_ERROR to them


@dataclass(frozen=True)
class Average:
    """An average of two values over all draws of the keys."""

    heads: str
    variance: float  # of ε, the length of the first key along its mean
    spread: float  # E‖c − E c‖² of orthonormal values
    off: float  # share of the draws


@dataclass(frozen=True)
class Exploration:
    """What was computed, and how far it is off; other numbers by name."""

    errors: dict[str, tuple[Array, Array]]  # at BETAS, computed by attention and by the formula
    lengths: Array  # (samples,): ε, of the first key along its mean
    one_head: Array  # (samples, n): shares of the values
    copies: list[Copy]  # at COSINES
    averages: list[Average]
    numbers: dict[str, float]


def exploration_part(explored: Exploration) -> Part:
    """Return the section of the page."""
    constants = {"pairs": PAIRS, "dimension": DIMENSION, "positions": POSITIONS, "alpha": ALPHA, "beta": BETA}
    counts = {"off": OFF, "samples": len(explored.one_head), "factors": FACTORS, "copy_error": COPY_ERROR}
    tables = {"copies": explored.copies, "averages": explored.averages}
    text = fill(__file__, "exploration.md.jinja", numbers=explored.numbers, **constants, **counts, **tables)
    errors, lengths = svg(draw_errors(explored)), svg(draw_lengths(explored))
    return Part(text, {"exploration_errors.svg": errors, "exploration_lengths.svg": lengths})


def explore(samples: int = SAMPLES) -> Exploration:
    """Compute the exploration; the same each time."""
    random = np.random.default_rng(SEED)
    keys = attention.orthonormal(random, PAIRS, DIMENSION)
    values = attention.orthonormal(random, PAIRS, DIMENSION)
    vectors = attention.orthonormal(random, 4, DIMENSION)
    errors = _errors(keys, values, vectors)
    lengths, one_head, averages, numbers = _drawn_keys(random, keys, samples)

    weights = attention.attend(random.standard_normal((samples, DIMENSION)), keys, values)[1]
    numbers |= _rotation(random) | {
        "formulas": max(float(np.abs(computed - formula).max()) for computed, formula in errors.values()),
        "projection": _projection_error(keys, random),
        "least_weight": float(weights.min()),
        "sum_of_weights": float(np.abs(weights.sum(axis=1) - 1).max()),
        "every_key": float(np.abs(_construction(vectors, every_key=True) - _construction(vectors)).max()),
        "identity": _nearest_with_identity(np.sqrt(BETA) * vectors),
        "saw": _same_word_twice(vectors),
    }
    copies = []
    for cosine in COSINES:
        alike = attention.keys_at_cosine(keys, cosine)
        weights = attention.attend(BETA * alike[0], alike, values)[1]
        copies.append(Copy(cosine, float(weights[1:].sum()), attention.copying_length(COPY_ERROR, PAIRS, cosine)))
    return Exploration(errors, lengths, one_head, copies, averages, numbers)


def _errors(keys: Array, values: Array, vectors: Array) -> dict[str, tuple[Array, Array]]:
    """Return the errors of copying, averaging and the construction, computed and by their formulas, for BETAS."""
    others = PAIRS - 2
    copied = attention.attend(BETAS[:, None] * keys[0], keys, values)[1][:, 0]  # (b,) e^β / (e^β + n − 1)
    outputs, _ = attention.attend(BETAS[:, None] * (keys[0] + keys[1]), keys, values)  # (b, v)
    averaged = np.linalg.norm(outputs - values[:2].mean(axis=0), axis=1)
    left = others / (2 * np.exp(BETAS) + others)  # the share that the other n − 2 values keep
    first, second = _construction(vectors)
    unwanted = 1 / (np.exp(BETAS) + 2)  # the weight of each of two inputs, where the wanted one has e^β as much
    return {
        "copying: weight not on v_a": (1 - copied, 1 - 1 / (1 + (PAIRS - 1) * np.exp(-BETAS))),
        "average: ‖c − ½(v_a + v_b)‖": (averaged, left * np.sqrt(1 / others + 1 / 2)),
        "construction: ‖c₁ − (u_b − u_c)‖/‖u‖": (first, np.sqrt(5) * unwanted),
        "construction: ‖c₂ − u_b‖/‖u‖": (second, np.sqrt(2) * unwanted),
    }


def _same_word_twice(vectors: Array) -> float:
    """Return ‖c₄ − c₂‖ of "I saw a saw", each word a vector of length one that attends to itself and those before."""
    i, saw, a = vectors[:3]
    words = np.stack([i, saw, a, saw])
    first, _ = attention.attend(saw, words[:2], words[:2])
    second, _ = attention.attend(saw, words, words)
    return float(np.linalg.norm(second - first))


def _construction(vectors: Array, every_key: bool = False) -> Array:
    """Return the relative errors of c₁ and c₂ (2, b) for u of squared lengths BETAS."""
    errors = []
    for squared in BETAS:
        a, b, c, d = np.sqrt(squared) * vectors
        x = np.stack([d + b, a, c + b])
        value, key, query = attention.construction(a, b, c, d, every_key)
        first, second, _ = attention.attend(x @ query.T, x @ key.T, x @ value.T)[0]
        errors.append(np.array([np.linalg.norm(first - (b - c)), np.linalg.norm(second - b)]) / np.linalg.norm(a))
    return np.transpose(errors)


def _nearest_with_identity(vectors: Array) -> float:
    """Return the least ‖c₂ − u_b‖/‖u‖ with V = K = Q = I, where FACTORS times u_c or u_d is added to x₂."""
    a, b, c, d = vectors
    distances = []
    for addition in (c, d):
        for factor in FACTORS:
            x = np.stack([d + b, a + factor * addition, c + b])
            distances.append(np.linalg.norm(attention.attend(x, x, x)[0][1] - b))
    return float(min(distances) / np.linalg.norm(b))


def _drawn_keys(
    random: np.random.Generator, keys: Array, samples: int
) -> tuple[Array, Array, list[Average], dict[str, float]]:
    """Compare one head with two on drawn keys: lengths, shares with one head, averages, and other numbers by name."""
    both = BETA * keys[:2]  # a query for each of two heads
    their_sum = both.sum(axis=0, keepdims=True)  # the query of one head
    varying = attention.draws(random, keys, ALPHA, samples)
    steady = attention.draws(random, keys, ALPHA, samples, stretch=0.0)

    averages = []
    for variance, drawn in ((0.5 + ALPHA, varying), (ALPHA, steady)):
        for heads, queries in (("one", their_sum), ("two", both)):
            shares = attention.shares(drawn, queries)
            off = float((attention.distances(shares) > OFF).mean())
            averages.append(Average(heads, variance, float(shares.var(axis=0).sum()), off))

    lengths = varying[:, 0] @ keys[0]
    one = attention.shares(varying, their_sum)
    numbers = {
        "steady": float(attention.distances(attention.shares(steady, their_sum)).max()),
        "curve": float(np.abs(one[:, 0] - attention.length_share(lengths, BETA)).max()),
    }
    return lengths, one, averages, numbers


def _rotation(random: np.random.Generator) -> dict[str, float]:
    """Return how far scores of one distance differ with rotary positions, and with added position vectors."""
    query, key = random.standard_normal((2, DIMENSION)) / DIMENSION**0.25  # scores of the order of one
    added = random.standard_normal((POSITIONS, DIMENSION)) / 2 / DIMENSION**0.25
    return {
        "rotary": float(attention.spread_by_distance(attention.rotary_scores(query, key, POSITIONS)).max()),
        "added": float(attention.spread_by_distance((query + added) @ (key + added).T).max()),
    }


def _projection_error(basis: Array, random: np.random.Generator) -> float:
    """Return ‖M(v_a + v_b) − v_a‖, M = A Aᵀ; v_a is in the span of one half of the basis' rows, v_b in the other."""
    own, other = np.split(basis, 2)
    a = random.standard_normal(len(own)) @ own
    b = random.standard_normal(len(other)) @ other
    return float(np.linalg.norm(own.T @ own @ (a + b) - a))


def draw_errors(exploration: Exploration) -> Figure:
    """Draw errors against β on a logarithmic axis: dots are computed by attention, lines are the formulas."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    for colour, (name, (computed, formula)) in zip(COLOURS, exploration.errors.items(), strict=False):
        axes.plot(BETAS, formula, color=colour, linewidth=1.4)
        axes.plot(BETAS, computed, "o", color=colour, markersize=4, label=name)
    logarithmic(axes, axes.dataLim.y0, axes.dataLim.y1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("β (for the construction: ‖u‖²)")
    axes.set_ylabel("error")
    axes.grid(zorder=0)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_lengths(exploration: Exploration) -> Figure:
    """Draw the share of v_a with one head against its key's length: dots and formula; below, the length's density."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    places = np.linspace(-1.5, 3.5, 501)
    dots = exploration.lengths[:DOTS], exploration.one_head[:DOTS, 0]
    upper.plot(*dots, "o", color=COLOURS[0], markersize=3, alpha=0.5)
    upper.plot(places, attention.length_share(places, BETA), color=COLOURS[1], linewidth=1.4)
    upper.set_ylabel("share of v_a in c")
    lower.fill_between(places, norm.pdf(places, 1, np.sqrt(0.5)), color=COLOURS[0], alpha=0.4)
    lower.set_ylim(bottom=0)
    lower.set_ylabel("density")
    lower.set_xlabel("drawn length ε of k_a")
    for axes in (upper, lower):
        axes.grid(zorder=0)
    return figure
