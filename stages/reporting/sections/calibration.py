"""The report's section on calibration: whether answers are right as often as their probability says."""

from collections.abc import Sequence
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.intervals import Marks
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

BINS = 10
FEWEST = 20  # answers in a bin: fewer have an accuracy that is mostly chance
MOST_WRONG = (2, 5)  # percent of the given answers

Array = npt.NDArray[np.float64]


def calibration_part(results: Sequence[Result]) -> Part:
    """Return the section on the pretrained answers of `results`, best first."""
    values = {"results": results, "error": calibration_error, "bins": BINS, "fewest": FEWEST, "most_wrong": MOST_WRONG}
    return Part(fill(__file__, "calibration.md.jinja", risk_table=risk_table(results), **values))


def calibration_error(probability: Array, correct: Array | Marks) -> float:
    """Return the expected calibration error: |accuracy - confidence|, the mean over bins weighted by their answers.

    Naeini, Cooper & Hauskrecht 2015 (AAAI), there with bins of equal width.
    """
    bins = reliability(probability, correct)
    return float(np.average((bins["accuracy"] - bins["confidence"]).abs(), weights=bins["count"]))


def reliability(probability: Array, correct: Array | Marks) -> pd.DataFrame:
    """Return count, confidence (mean probability) and accuracy of each bin, from the least sure to the surest answers.

    `probability` in 0…1 and `correct`, 0 or 1, are arrays of one shape. Bins have about equal mass and FEWEST answers
    or more; as answers of equal probability share a bin, the next one may have fewer.
    """
    answers = pd.DataFrame({"probability": probability.ravel(), "correct": correct.ravel()})
    bins = min(BINS, max(1, len(answers) // FEWEST))
    rank = (answers.probability.rank() - 0.5) / len(answers)  # in 0…1, equals have one rank
    groups = answers.groupby((bins * rank).astype(int))
    return groups.agg(count=("correct", "size"), confidence=("probability", "mean"), accuracy=("correct", "mean"))


def risk_table(results: Sequence[Result]) -> Markdown:
    """Return each pretrained variant's AUROC and the shares that it can answer, in percent: mean, then each seed."""
    header = ("variant", "AUROC, %", *(f"answered, at most {most} % wrong, %" for most in MOST_WRONG))
    rows = []
    for result in results:
        by_seed = []
        for probability, correct in zip(result.pretrained.probability.T, result.pretrained.correct.T, strict=True):
            shares = [share_answered(probability, correct, most) for most in MOST_WRONG]
            by_seed.append((auroc(probability, correct), *shares))
        rows.append((result.variant, *map(mean_and_seeds, zip(*by_seed, strict=True))))
    return table(header, rows, right=header[1:])


def mean_and_seeds(shares: Sequence[float]) -> str:
    """Return the mean of the seeds' shares and, in brackets, each, in percent."""
    return f"{percent(sum(shares) / len(shares))} ({', '.join(map(percent, shares))})"


def auroc(probability: Array, correct: Marks) -> float:
    """Return the share of pairs of a right and a wrong answer in which the right one is the more probable.

    A tie counts one half. NaN without a right or without a wrong answer. `probability` and `correct`: (N,). The area
    under the ROC curve by ranks: Hanley & McNeil 1982 (Radiology).
    """
    right, wrong = probability[correct == 1], probability[correct == 0]
    if not len(right) or not len(wrong):
        return nan
    return float(stats.mannwhitneyu(right, wrong, method="asymptotic").statistic / (len(right) * len(wrong)))


def share_answered(probability: Array, correct: Marks, most_wrong: int) -> float:
    """Return the largest share of surest answers of which at most `most_wrong` percent are wrong; 0 without one.

    A threshold gives answers of equal probability together or not at all. `probability` and `correct`: (N,), N > 0.
    """
    surest_first = np.argsort(-probability)
    given = np.arange(1, len(probability) + 1)
    wrong = np.cumsum(correct[surest_first] == 0)

    is_threshold = np.append(np.diff(probability[surest_first]) < 0, True)
    allowed = is_threshold & (100 * wrong <= most_wrong * given)
    return float(given[allowed].max(initial=0) / len(probability))
