"""Tests of two ways of answering the same questions, corrected for their number.

Between variants the unit is a training: another training of the same variant answers other questions. Against a fixed
answer to each question, as a baseline gives, the unit is a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics.intervals import (
    CONFIDENCE,
    LEAST_SEEDS,
    Marks,
    half_width,
    question_variance,
    seed_variance,
    wilson,
)

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """The accuracy of the first less that of the second in points, its 95 % interval, p and p corrected by Holm.

    Both p are NaN where one has too few seeds for a test.
    """

    first: str
    second: str
    points: float
    ci_low: float
    ci_high: float
    p: float = nan
    corrected_p: float = nan

    @property
    def significant(self) -> str:
        """Whether the corrected test rejects; a dash where there is none."""
        if np.isnan(self.corrected_p):
            return "–"
        return "yes" if self.corrected_p < LEVEL else "no"


def compare_trainings(correct: Mapping[str, Marks], pairs: Sequence[tuple[str, str]]) -> list[Difference]:
    """Return the difference of each pair of variants, whose trainings answer the same questions.

    Welch's test (1947) of the trainings, its variance that of each variant's seeds and that of the paired questions.
    Its degrees of freedom are those of the seeds alone: with the questions' it finds differences where there are none.
    With fewer than LEAST_SEEDS seeds on a side there is no test, and the interval is of the questions alone. Holm
    corrects over all `pairs`.
    """
    compared = []
    for one, other in pairs:
        points, spread, freedom = _welch(correct[one], correct[other])
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * spread
        tested = freedom < np.inf
        p = (2 * float(stats.t.sf(abs(points) / spread, freedom)) if spread else float(points == 0)) if tested else nan
        compared.append((one, other, points, half or _unseen(correct[one]), p))
    return _differences(compared)


def compare_with_constants(
    correct: Mapping[str, Marks], constants: Mapping[str, Marks], pairs: Sequence[tuple[str, str]]
) -> list[Difference]:
    """Return the difference of each pair of a variant and one of the `constants`, (N,) each.

    The test of `sign_flip_test` takes the trained weights as given. Holm corrects over all `pairs`.
    """
    compared = []
    for one, other in pairs:
        differences = correct[one] - constants[other][:, None]
        p = sign_flip_test(differences.sum(axis=1))
        compared.append((one, other, float(differences.mean()), half_width(differences) or _unseen(differences), p))
    return _differences(compared)


def _welch(first: Marks, second: Marks) -> tuple[float, float, float]:
    """Return the difference of two means, its standard error and degrees of freedom: infinite without a test."""
    by_question = first.mean(axis=1) - second.mean(axis=1)
    points = float(by_question.mean())
    of_questions = question_variance(by_question)
    if min(first.shape[1], second.shape[1]) < LEAST_SEEDS:
        return points, of_questions**0.5, np.inf
    one, one_shared = seed_variance(first)
    other, other_shared = seed_variance(second)
    of_questions = max(0.0, of_questions - one_shared - other_shared)
    weighed = one**2 / (first.shape[1] - 1) + other**2 / (second.shape[1] - 1)
    freedom = (one + other) ** 2 / weighed if weighed else min(first.shape[1], second.shape[1]) - 1
    return points, (one + other + of_questions) ** 0.5, freedom


def _unseen(values: Marks) -> float:
    """Return Wilson's bound on the share of questions that might differ, where none of N was seen to."""
    return wilson(0, len(values))[1]


def _differences(compared: Sequence[tuple[str, str, float, float, float]]) -> list[Difference]:
    """Return differences in points, with corrected p; compared: names, difference, half of its interval, p."""
    tested = [p for *_, p in compared if not np.isnan(p)]
    corrected = iter(holm(tested))
    differences = []
    for one, other, mean, half, p in compared:
        bounds = mean, max(-1.0, mean - half), min(1.0, mean + half)
        # as they are shown: what reads -0.00 is 0
        points, low, high = (round(100 * bound, 2) + 0.0 for bound in bounds)
        differences.append(Difference(one, other, points, low, high, p, nan if np.isnan(p) else next(corrected)))
    return differences


def sign_flip_test(differences: npt.NDArray[np.int64]) -> float:
    """Return the two-sided p of the sum of whole-numbered `differences` (N,) had each either sign by a coin's throw.

    The permutation test of paired samples (Fisher 1935). All 2^N signs count, by way of the binomial distribution of
    each size's positive ones: scipy.stats.permutation_test draws from so many, and its least p would not survive the
    correction for many tests. With one seed each, it is the exact McNemar test.
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    probabilities = np.ones(1)  # that the positive ones add up to 0, 1, 2, …
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        one = np.zeros(size * count + 1)
        one[::size] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        probabilities = np.convolve(probabilities, one)
    total = len(probabilities) - 1
    distance = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(probabilities[distance >= abs(int(differences.sum()))].sum()))


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number (Holm 1979): the chance of any false rejection is bounded."""
    order = np.argsort(ps, kind="stable")
    scaled = np.asarray(ps, dtype=np.float64)[order] * np.arange(len(ps), 0, -1)
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return [float(p) for p in corrected]


def shown_p(p: float) -> str:
    """Return a p-value in three decimals; a dash where there is none."""
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def shown_points(difference: Difference, decimals: int = 1) -> str:
    """Return a difference with its interval: `+3.0 (-1.5 to +7.5)`."""
    points, low, high = (
        f"{value:+.{decimals}f}" for value in (difference.points, difference.ci_low, difference.ci_high)
    )
    return f"{points} ({low} to {high})"
