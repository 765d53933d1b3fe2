"""Intervals of accuracies, over questions and seeds.

A mean over N questions and n seeds varies with both. Each part is a variance of the mean, by the mean squares of a
two-way layout without repetition; their sum has Satterthwaite's degrees of freedom (Satterthwaite 1946, Biometrics
Bulletin 2).
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

CONFIDENCE = 0.95
LEAST_SEEDS = 3  # fewer do not show how far seeds lie apart: intervals are then over questions alone

Marks = npt.NDArray[np.int64]  # (N, seeds), 1 right, 0 wrong


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


def share(outcomes: pd.DataFrame, column: str) -> dict[str, float]:
    """Return the mean of a column of 0 and 1, by row and seed, with its 95 % interval: in 0…1."""
    marks = outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)
    low, high = accuracy_interval(marks)
    return {"share": float(marks.mean()), "ci_low": low, "ci_high": high}


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Return the Wilson interval of a share of trials, which need not be a whole number of them."""
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    part = z**2 / trials
    half = z * (share * (1 - share) / trials + part / (4 * trials)) ** 0.5
    return (share + part / 2 - half) / (1 + part), (share + part / 2 + half) / (1 + part)
