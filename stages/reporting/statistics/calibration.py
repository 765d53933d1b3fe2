"""Is a model right as often as it is sure? Measures of stated probabilities against what was right."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

BINS = 10
FEWEST = 20  # answers in a bin: fewer have an accuracy that is mostly chance

Array = npt.NDArray[np.float64]


def reliability(probability: Array, correct: Array) -> pd.DataFrame:
    """Return count, confidence (mean probability) and accuracy of each bin, from the least sure to the surest answers.

    `probability` (A,) in 0…1 and `correct` (A,) 0 or 1 belong to the same answers. Bins of about equal
    mass: BINS of them, or as many as would hold FEWEST answers each, at least one. Answers of equal probability are in
    one bin, so that a bin beside them may hold fewer.
    """
    bins = min(BINS, max(1, len(probability) // FEWEST))
    rank = (stats.rankdata(probability, method="average") - 0.5) / len(probability)  # in 0…1, equals have one rank
    table = pd.DataFrame({"bin": (bins * rank).astype(int), "confidence": probability, "accuracy": correct})
    groups = table.groupby("bin")
    found = groups[["confidence", "accuracy"]].mean()
    found.insert(0, "count", groups.size())
    return found.reset_index(drop=True)


def expected_calibration_error(probability: Array, correct: Array) -> float:
    """Return the mean of |accuracy - confidence| over the bins of `reliability`, weighted by their answers.

    Naeini, Cooper & Hauskrecht 2015 (AAAI), there with bins of equal width.
    """
    bins = reliability(probability, correct)
    return float(np.average((bins["accuracy"] - bins["confidence"]).abs(), weights=bins["count"]))


def brier_score(probability: Array, correct: Array) -> float:
    """Return the mean squared difference of probability and correctness: 0 at best (Brier 1950)."""
    return float(np.mean((probability - correct) ** 2))
