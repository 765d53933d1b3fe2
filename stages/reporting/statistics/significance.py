"""Paired tests of two ways of answering the same questions, corrected for their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.statistics.intervals import Marks, difference_interval, resampled_means

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """The accuracy of the first less that of the second in points, its 95 % interval, p and p corrected by Holm."""

    first: str
    second: str
    points: float
    ci_low: float
    ci_high: float
    p: float
    corrected_p: float

    @property
    def significant(self) -> str:
        """Yes where the corrected test rejects and the interval lacks 0; the test alone takes the weights as given."""
        if self.corrected_p >= LEVEL:
            return "no"
        return "yes" if self.ci_low > 0 or self.ci_high < 0 else "for these seeds"


def compare_pairs(correct: Mapping[str, Marks], pairs: Sequence[tuple[str, str]]) -> list[Difference]:
    """Return the difference of each pair of names in `correct`, which answer the same questions.

    Both of a pair answer with their first seeds, as many as both have. Holm corrects over all `pairs`; the name decides
    how the seeds are resampled.
    """
    resampled = cache(lambda name, seeds: resampled_means(correct[name][:, :seeds], name))
    found: list[tuple[str, str, float, float, float, float]] = []
    for one, other in pairs:
        seeds = min(correct[one].shape[1], correct[other].shape[1])
        first, second = correct[one][:, :seeds], correct[other][:, :seeds]
        low, high = difference_interval(resampled(one, seeds), resampled(other, seeds), len(first))
        mean = float(first.mean() - second.mean())
        # as they are shown: what reads 0.00 counts as 0
        points, low, high = (round(100 * each, 2) + 0.0 for each in (mean, low, high))
        found.append((one, other, points, low, high, sign_flip_test((first - second).sum(axis=1))))
    corrected = holm([p for *_, p in found])
    return [Difference(*each, p) for each, p in zip(found, corrected, strict=True)]


def sign_flip_test(differences: npt.NDArray[np.int64]) -> float:
    """Return the two-sided p of the sum of whole-numbered `differences` (N,) had each either sign by a coin's throw.

    The permutation test of paired samples (Fisher 1935). All 2^N signs count, by way of the binomial distribution of
    each size's positive ones: scipy.stats.permutation_test draws from so many, and its least p would not survive the
    correction for a hundred tests. With one seed each, it is the exact McNemar test.
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    chances = np.ones(1)  # of the sum of the positive ones being 0, 1, 2, …
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        one = np.zeros(size * count + 1)
        one[::size] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, one)
    total = len(chances) - 1
    distance = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[distance >= abs(int(differences.sum()))].sum()))


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number (Holm 1979): the chance of any false rejection is bounded."""
    order = np.argsort(ps, kind="stable")
    scaled = np.asarray(ps, dtype=np.float64)[order] * np.arange(len(ps), 0, -1)
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return [float(p) for p in corrected]


def shown_p(p: float) -> str:
    """A p-value in three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def shown_points(found: Difference, decimals: int = 1) -> str:
    """A difference with its interval: `+3.0 (-1.5 to +7.5)`."""
    points, low, high = (f"{each:+.{decimals}f}" for each in (found.points, found.ci_low, found.ci_high))
    return f"{points} ({low} to {high})"
