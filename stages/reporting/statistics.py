"""Intervals of accuracies, and tests of pairs of variants that answer the same questions.

The unit of a test is a training: another training of the same variant answers other questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import numpy.typing as npt
from scipy import stats  # type: ignore[import-untyped]

CONFIDENCE = 0.95
LEAST_SEEDS = 3  # fewer do not show how far seeds lie apart: intervals are then over questions alone

Marks = npt.NDArray[np.int64]  # (N, seeds), 1 right, 0 wrong
LEVEL = 0.05


def accuracy_interval(correct: Marks) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `correct` (N, seeds) as two fractions in 0…1.

    It is Wilson's (1927) over the questions where there are fewer than LEAST_SEEDS seeds or all answers are equal.
    """
    questions, seeds = correct.shape
    mean = float(correct.mean())
    if seeds >= LEAST_SEEDS:
        of_seeds, shared = seed_variance(correct)
        of_questions = max(0.0, question_variance(correct.mean(axis=1)) - shared)
        if variance := of_seeds + of_questions:
            freedom = variance**2 / (of_seeds**2 / (seeds - 1) + of_questions**2 / max(1, questions - 1))
            half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * variance**0.5
            return max(0.0, mean - half), min(1.0, mean + half)
    return wilson(mean, questions)


def question_variance(by_question: npt.NDArray[np.float64]) -> float:
    """Return the variance of the mean of (N,) over questions; 0 for a single question."""
    questions = len(by_question)
    return float(by_question.var(ddof=1)) / questions if questions > 1 else 0.0


def seed_variance(values: Marks) -> tuple[float, float]:
    """Return the variance of the mean of values (N, seeds) over seeds, and the part that the one over questions shares.

    The shared part is that of single answers, which spread both the means of seeds and those of questions.
    """
    questions, seeds = values.shape
    by_seed = values.mean(axis=0)
    by_question = values.mean(axis=1, keepdims=True)
    rest = values - by_seed - by_question + values.mean()
    shared = float((rest**2).sum()) / max(1, (questions - 1) * (seeds - 1))
    return float(by_seed.var(ddof=1)) / seeds, shared / (questions * seeds)


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Return the Wilson interval of a share of trials, which need not be a whole number of them."""
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    part = z**2 / trials
    half = z * (share * (1 - share) / trials + part / (4 * trials)) ** 0.5
    return (share + part / 2 - half) / (1 + part), (share + part / 2 + half) / (1 + part)


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
    p: float
    corrected_p: float

    @property
    def is_tested(self) -> bool:
        return not isnan(self.p)

    @property
    def significant(self) -> str:
        """`yes` where the corrected test rejects, `no` where it does not; a dash without a test."""
        if not self.is_tested:
            return "–"
        return "yes" if self.corrected_p < LEVEL else "no"


def compare_trainings(correct: Mapping[str, Marks], pairs: Sequence[tuple[str, str]]) -> list[Difference]:
    """Return the difference of each pair of variants, whose trainings answer the same questions.

    The test is Welch's (1947) of the trainings. Its variance has a part of each variant's seeds and one of the paired
    questions; its degrees of freedom are those of the seeds alone, as with the questions' it finds differences where
    there are none. With fewer than LEAST_SEEDS seeds on a side there is no test, and the interval is over questions
    alone. Holm's correction is over all `pairs`.
    """
    tests = [_welch(correct[one], correct[other]) for one, other in pairs]
    corrected = holm([p for *_, p in tests])
    differences = []
    for (one, other), (mean, half, p), corrected_p in zip(pairs, tests, corrected, strict=True):
        bounds = mean, max(-1.0, mean - half), min(1.0, mean + half)
        points, low, high = (round(100 * bound, 2) + 0.0 for bound in bounds)  # + 0.0 makes 0 of -0.0
        differences.append(Difference(one, other, points, low, high, p, corrected_p))
    return differences


def _welch(first: Marks, second: Marks) -> tuple[float, float, float]:
    """Return the difference of two means, half of its 95 % interval, and p: NaN without a test."""
    by_question = first.mean(axis=1) - second.mean(axis=1)
    mean = float(by_question.mean())
    variance = question_variance(by_question)
    freedom = np.inf
    is_tested = min(first.shape[1], second.shape[1]) >= LEAST_SEEDS
    if is_tested:
        one, one_shared = seed_variance(first)
        other, other_shared = seed_variance(second)
        variance = one + other + max(0.0, variance - one_shared - other_shared)
        weighed = one**2 / (first.shape[1] - 1) + other**2 / (second.shape[1] - 1)
        freedom = (one + other) ** 2 / weighed if weighed else min(first.shape[1], second.shape[1]) - 1

    error = variance**0.5
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    if not half:
        half = wilson(0.0, len(first))[1]  # the share of questions that may differ although none of these does
    if not is_tested:
        return mean, half, nan
    return mean, half, 2 * float(stats.t.sf(abs(mean) / error, freedom)) if error else float(mean == 0)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number (Holm 1979): the chance of any false rejection is bounded.

    NaN is no test: it stays NaN, and does not count.
    """
    order = np.argsort(ps, kind="stable")  # NaN is last
    tests = np.count_nonzero(~np.isnan(ps))
    scaled = np.asarray(ps, dtype=np.float64)[order] * (tests - np.arange(len(ps)))
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return [float(p) for p in corrected]
