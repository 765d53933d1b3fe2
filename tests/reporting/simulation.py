"""Reports of simulated studies: how often they call a difference significant where there is none, and where there is.

    python -m tests.reporting.simulation

It is no part of the suite. It takes a minute or two, and prints the table of docs/notes.md.

A question has a chance to be answered, drawn for each variant with a part that all share; a training moves the chances
of all questions together, so that the accuracies of trainings have a given spread.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
from scipy import stats  # type: ignore[import-untyped]
from scipy.optimize import least_squares  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]

from stages.reporting.statistics import Marks, compare_trainings

SEEDS = 3
HARDNESS = 2.5  # standard deviation of the questions' log-odds
SHARED = 0.7  # share of its variance that is of all variants alike
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
EVEN = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)  # quantiles of a standard normal


@cache
def log_odds(accuracy: float, spread: float) -> tuple[float, float]:
    """The mean of a training's log-odds, and their standard deviation over trainings, that give both in 0…1."""
    weights = WEIGHTS / WEIGHTS.sum()

    def missed(at: np.ndarray) -> list[float]:
        accuracies = expit(HARDNESS * EVEN[:, None] + at[0] + at[1] * POINTS).mean(axis=0)
        mean = float(accuracies @ weights)
        return [mean - accuracy, float((accuracies - mean) ** 2 @ weights) ** 0.5 - spread]

    mean, deviation = least_squares(missed, [2 * accuracy - 1, 8 * spread]).x
    return float(mean), float(deviation)


def study(
    accuracies: Sequence[float], spreads: Sequence[float], questions: int, random: np.random.Generator
) -> dict[str, Marks]:
    """The answers of a study's variants, of SEEDS trainings each; all in fractions of 1."""
    common = random.normal(size=questions)
    answers = {}
    for number, (accuracy, spread) in enumerate(zip(accuracies, spreads, strict=True)):
        mean, deviation = log_odds(accuracy, spread)
        own = SHARED**0.5 * common + (1 - SHARED) ** 0.5 * random.normal(size=questions)
        probabilities = expit(HARDNESS * own[:, None] + mean + deviation * random.normal(size=SEEDS))
        answers[f"v{number}"] = (random.random(probabilities.shape) < probabilities).astype(np.int64)
    return answers


def verdicts(correct: dict[str, Marks]) -> dict[tuple[str, str], bool]:
    """Whether the report calls each pair's difference significant."""
    differences = compare_trainings(correct, [*combinations(correct, 2)])
    return {(difference.first, difference.second): difference.significant == "yes" for difference in differences}


def false_reports(spreads: Sequence[float], accuracy: float, questions: int, reports: int) -> float:
    """The share of reports on variants of one accuracy that call any difference significant."""
    random = np.random.default_rng(1)
    equal = [accuracy] * len(spreads)
    return float(np.mean([any(verdicts(study(equal, spreads, questions, random)).values()) for _ in range(reports)]))


def power(points: float, spread: float, accuracy: float, questions: int, reports: int) -> float:
    """The share of reports on four variants that tell the first, so much better, from the second."""
    random = np.random.default_rng(2)
    accuracies = [accuracy + points, *[accuracy] * 3]
    studies = (study(accuracies, [spread] * 4, questions, random) for _ in range(reports))
    return float(np.mean([verdicts(answers)["v0", "v1"] for answers in studies]))


def main() -> None:
    """Print the table of docs/notes.md: false reports and power by the spread of seeds."""
    print("| spread of seeds, points | false | +5 | +10 | +20 points |\n|---:|---:|---:|---:|---:|")
    for spread in (0.005, 0.01, 0.03, 0.06, 0.11):
        shares = [
            false_reports([spread] * 4, 0.6, 500, 2000),
            *(power(p, spread, 0.6, 500, 500) for p in (0.05, 0.1, 0.2)),
        ]
        print(f"| {100 * spread:g} |", " | ".join(f"{100 * share:.1f} %" for share in shares), "|", flush=True)
    for spreads in ((0.005, 0.005, 0.005, 0.11), (0.005, 0.01, 0.03, 0.11), (0.11, 0.11, 0.11, 0.005)):
        shown = ", ".join(f"{100 * spread:g}" for spread in spreads)
        print(f"| {shown} | {100 * false_reports(spreads, 0.6, 500, 2000):.1f} % | | | |", flush=True)


if __name__ == "__main__":
    main()
