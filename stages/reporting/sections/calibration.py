"""The report's section on calibration: are answers right as often as their probability says?"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from stages.reporting.metrics import Result
from stages.reporting.statistics.intervals import Marks
from stages.reporting.template import Part, fill

BINS = 10
FEWEST = 20  # answers in a bin: fewer have an accuracy that is mostly chance

Array = npt.NDArray[np.float64]


def calibration_part(results: Sequence[Result]) -> Part:
    """Return the section on the pretrained answers of `results`, best first."""
    values = {"results": results, "error": calibration_error, "bins": BINS, "fewest": FEWEST}
    return Part(fill(__file__, "calibration.md.jinja", **values))


def calibration_error(probability: Array, correct: Array | Marks) -> float:
    """Return the expected calibration error: |accuracy - confidence|, the mean over bins weighted by their answers.

    Naeini, Cooper & Hauskrecht 2015 (AAAI), there with bins of equal width.
    """
    bins = reliability(probability, correct)
    return float(np.average((bins["accuracy"] - bins["confidence"]).abs(), weights=bins["count"]))


def reliability(probability: Array, correct: Array | Marks) -> pd.DataFrame:
    """Return count, confidence (mean probability) and accuracy of each bin, from the least sure to the surest answers.

    `probability` in 0…1 and `correct`, 0 or 1, are of one shape and the same answers, all taken together. Bins have
    about equal mass and FEWEST answers or more. Answers of equal probability are in one bin, so that the one beside it
    may hold fewer.
    """
    answers = pd.DataFrame({"probability": probability.ravel(), "correct": correct.ravel()})
    bins = min(BINS, max(1, len(answers) // FEWEST))
    rank = (answers.probability.rank() - 0.5) / len(answers)  # in 0…1, equals have one rank
    groups = answers.groupby((bins * rank).astype(int))
    return groups.agg(count=("correct", "size"), confidence=("probability", "mean"), accuracy=("correct", "mean"))
