"""The report's section on calibration: are answers right as often as their probability says?"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.evaluations import DECODINGS
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.intervals import Marks
from stages.reporting.style import GREY, PALE, SMALL, entries, looks, svg
from stages.reporting.template import Part, fill

BINS = 10
FEWEST = 20  # answers in a bin: fewer have an accuracy that is mostly chance

Array = npt.NDArray[np.float64]


def calibration_part(results: Sequence[Result], leading: Sequence[str] = ()) -> Part:
    """The section made from the pretrained answers of `results`, best first; leading: as in `draw_calibration`."""
    tables = {"table": calibration_table(results), "decodings_table": decodings_table(results)}
    text = fill(__file__, "calibration.md.jinja", bins=BINS, fewest=FEWEST, **tables)
    return Part(text, {"calibration.svg": svg(draw_calibration(results, leading))})


def calibration_table(results: Sequence[Result]) -> Markdown:
    """Return the table of accuracy, mean probability and measures of calibration by variant.

    The Brier score is the mean squared distance of probability and correctness: 0 at best (Brier 1950).
    """
    header = (
        "variant", "accuracy, %", "mean probability, %", "expected calibration error, points", "Brier score",
        "Brier score of the accuracy alone",
    )  # fmt: skip
    rows = []
    for result in results:
        probability, correct = result.pretrained.probability, result.pretrained.correct
        percent = (result.pretrained.mean, 100 * probability.mean(), 100 * calibration_error(probability, correct))
        brier = (((probability - correct) ** 2).mean(), correct.var())
        rows.append((result.variant, *(f"{each:.1f}" for each in percent), *(f"{each:.3f}" for each in brier)))
    return table(header, rows, right=header[1:])


def decodings_table(results: Sequence[Result]) -> Markdown:
    """Return the table of accuracy and expected calibration error of each way to decode, by variant."""
    header = ("variant", *(f"{name}, {what}" for what in ("%", "error") for name in DECODINGS))
    rows = []
    for result in results:
        found = result.evaluation.decodings
        errors = [calibration_error(*found[[f"{name}_probability", name]].to_numpy(float).T) for name in DECODINGS]
        shares = [*found[list(DECODINGS)].mean(), *errors]
        rows.append((result.variant, *(f"{100 * each:.1f}" for each in shares)))
    return table(header, rows, right=header[1:])


def draw_calibration(results: Sequence[Result], leading: Sequence[str] = ()) -> Figure:
    """Draw the accuracy of each variant's bins against their mean probability.

    leading: the variants that stand out where there are many.
    """
    figure = Figure(figsize=(SMALL, 4.0), layout="constrained")
    axes = figure.subplots()
    look = looks([result.variant for result in results], leading)
    for result, (dash, colour) in zip(results, look.values(), strict=True):
        bins = 100 * reliability(result.pretrained.probability, result.pretrained.correct)
        points = bins["confidence"], bins["accuracy"]
        axes.plot(*points, color=colour, ls=dash, marker=".", zorder=2 + (colour != PALE), label=result.variant)
    axes.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    axes.set_xlim(0, 101)
    axes.set_ylim(-2, 102)
    axes.set_xlabel("mean probability of the answers in a bin (%)")
    axes.set_ylabel("right (%)")
    axes.grid(zorder=0)
    figure.legend(*entries(axes, look), loc="outside lower center", ncols=3, fontsize=8.5)
    return figure


def reliability(probability: Array, correct: Array | Marks) -> pd.DataFrame:
    """Return count, confidence (mean probability) and accuracy of each bin, from the least sure to the surest answers.

    `probability` in 0…1 and `correct`, 0 or 1, are of one shape and the same answers, all taken together. Bins have
    about equal mass and FEWEST answers or more; answers of equal probability are in one bin, so that one beside them
    may hold fewer.
    """
    answers = pd.DataFrame({"probability": probability.ravel(), "correct": correct.ravel()})
    bins = min(BINS, max(1, len(answers) // FEWEST))
    rank = (answers.probability.rank() - 0.5) / len(answers)  # in 0…1, equals have one rank
    groups = answers.groupby((bins * rank).astype(int))
    return groups.agg(count=("correct", "size"), confidence=("probability", "mean"), accuracy=("correct", "mean"))


def calibration_error(probability: Array, correct: Array | Marks) -> float:
    """Return the expected calibration error: |accuracy - confidence|, the mean over bins weighted by their answers.

    Naeini, Cooper & Hauskrecht 2015 (AAAI), there with bins of equal width.
    """
    bins = reliability(probability, correct)
    return float(np.average((bins["accuracy"] - bins["confidence"]).abs(), weights=bins["count"]))
