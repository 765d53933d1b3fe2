"""Intervals of accuracies and of their differences, over questions and seeds."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

CONFIDENCE = 0.95
RESAMPLES = 9999

Marks = npt.NDArray[np.int64]  # (N, seeds), 1 right, 0 wrong
Means = npt.NDArray[np.float64]  # (RESAMPLES,) fractions in 0…1


def accuracy_interval(correct: Marks, stream: str) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `correct` (N, seeds) as two fractions in 0…1.

    Of one seed, and where all resamples are alike, the Wilson interval (Wilson 1927) of the questions; else the
    percentiles of `resampled_means`.
    """
    questions, seeds = correct.shape
    means = resampled_means(correct, stream) if seeds > 1 else np.zeros(1)
    if np.ptp(means) > 0:
        return percentiles(means)
    return wilson(round(float(correct.mean()) * questions), questions)


def share(outcomes: pd.DataFrame, column: str, stream: str) -> dict[str, float]:
    """The mean of what is 0 or 1 of each row and seed, with its 95 % interval over questions and seeds: in 0…1."""
    marks = outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)
    low, high = accuracy_interval(marks, stream)
    return {"share": float(marks.mean()), "ci_low": low, "ci_high": high}


def difference_interval(first: Means, second: Means, questions: int) -> tuple[float, float]:
    """Return the 95 % interval of a difference of two means, from their resamples over the same questions.

    Where all resamples are alike, none of the questions has shown another difference; Wilson's bound on the fraction
    of those that might (none of `questions` seen) stands on both sides, within -1…1.
    """
    differences = first - second
    if np.ptp(differences) > 1e-9:  # apart from rounding
        return percentiles(differences)
    unseen = wilson(0, questions)[1]
    return max(-1.0, float(differences[0]) - unseen), min(1.0, float(differences[0]) + unseen)


def resampled_means(correct: Marks, stream: str) -> Means:
    """Return the mean of `correct` (N, seeds) in each of RESAMPLES draws of its questions and of its seeds.

    Questions and seeds are drawn with replacement, independently of each other: the pigeonhole bootstrap (Owen 2007,
    Annals of Applied Statistics 1(2)), which overstates the part that is of neither alone and, of m seeds, shows
    (m - 1)/m of the variance between them; scipy.stats.bootstrap resamples one axis only. All tables of N questions get
    the same draws of questions, so that differences are paired; the draws of seeds depend on the name `stream` alone.
    """
    questions, seeds = correct.shape
    drawn = np.random.default_rng([1, *stream.encode()]).multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES)
    sums = (question_draws(questions) @ correct.astype(np.float32)).astype(np.float64) * drawn  # (RESAMPLES, seeds)
    return sums.sum(axis=1) / (questions * seeds)


@lru_cache(maxsize=4)  # a report has intervals over so many numbers of questions, in turn
def question_draws(questions: int) -> npt.NDArray[np.float32]:
    """How often each question is in each draw, (RESAMPLES, N); the same whenever it is called. Their sums are exact."""
    even = np.full(questions, 1 / questions)
    return np.random.default_rng(0).multinomial(questions, even, size=RESAMPLES).astype(np.float32)


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Return the Wilson interval of a fraction of which `hits` of `trials` were seen."""
    found = stats.binomtest(hits, trials).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def percentiles(values: Means) -> tuple[float, float]:
    """Return the bounds that hold the middle CONFIDENCE of `values`."""
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
