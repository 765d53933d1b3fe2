"""The report's section on confidence: are answers right as often as their probability says, sure ones above all?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stages.reporting.markdown import Markdown, listed, table
from stages.reporting.metrics import Accuracy, Result
from stages.reporting.sections.confidence_figure import Curves, confidence_svg
from stages.reporting.statistics.calibration import (
    BINS,
    FEWEST,
    accuracy_at,
    brier_score,
    coverage_curve,
    expected_calibration_error,
    reliability,
)
from stages.reporting.template import Part, fill

TEMPLATE = "confidence.md.jinja"
COVERAGES = (0.25, 0.5)


@dataclass(frozen=True, eq=False)
class Confidence:
    """A variant's pretrained dev answers, those of all seeds together: A probabilities and whether they were right."""

    variant: str
    accuracy: Accuracy
    probability: npt.NDArray[np.float64]
    correct: npt.NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The mean probability in percent."""
        return 100 * float(self.probability.mean())

    @property
    def error(self) -> float:
        """The expected calibration error in points."""
        return 100 * expected_calibration_error(self.probability, self.correct)

    @property
    def brier(self) -> float:
        """The Brier score."""
        return brier_score(self.probability, self.correct)

    @property
    def plain_brier(self) -> float:
        """The Brier score of the same answers, had each the accuracy as its probability."""
        return brier_score(np.full_like(self.correct, self.correct.mean()), self.correct)

    def at(self, coverage: float) -> float:
        """The accuracy in percent of that share of the answers, the surest."""
        return 100 * accuracy_at(coverage, self.probability, self.correct)


def confidence_part(results: Sequence[Result], variants: Sequence[str]) -> Part:
    """The section made from the pretrained answers of `results`, best first; `variants` are those of the report."""
    read = [confidence(result) for result in results]
    text = fill(
        TEMPLATE,
        sentences=sentences(read),
        confidence_table=confidence_table(read),
        most_bins=BINS,
        fewest=FEWEST,
        seeds=len(read[0].accuracy.by_seed),
    )
    curves = {
        each.variant: Curves(
            reliability(each.probability, each.correct), coverage_curve(each.probability, each.correct)
        )
        for each in read
    }
    return Part(text, {"confidence.svg": confidence_svg(curves, variants, len(read[0].correct))})


def confidence(result: Result) -> Confidence:
    """Return the pretrained answers of `result` with their probabilities."""
    answers = result.answers["pretrained"]
    return Confidence(
        result.variant, result.pretrained, answers.probability.ravel(), answers.correct.ravel().astype(np.float64)
    )


def confidence_table(read: Sequence[Confidence]) -> Markdown:
    """Return the table of mean probability, accuracy, calibration and accuracy at coverage by variant."""
    header = (
        "variant", "accuracy, %", "mean probability, %", "calibration error, points", "Brier score",
        *(f"surest {100 * coverage:.0f} %: right, %" for coverage in COVERAGES),
    )  # fmt: skip
    rows = [
        (
            each.variant,
            f"{each.accuracy.mean:.1f}",
            f"{each.mean:.1f}",
            f"{each.error:.1f}",
            f"{each.brier:.3f} ({each.plain_brier:.3f})",
            *(f"{each.at(coverage):.1f}" for coverage in COVERAGES),
        )
        for each in read
    ]
    return table(header, rows, right=header[1:])


def sentences(read: Sequence[Confidence]) -> Markdown:
    """Return how sure the first variant is, what its surest half is worth, and the range of calibration errors."""
    said = [_level(read[0]), _selective(read[0])]
    ordered = sorted(read, key=lambda each: (each.error, each.variant))
    best, worst = ordered[0], ordered[-1]
    error = (
        f"goes from {best.error:.1f} points ({listed([best.variant])}) to {worst.error:.1f} ({listed([worst.variant])})"
    )
    if len(read) == 1:
        error = f"is {best.error:.1f} points"
    said.append(f"The expected calibration error {error}.")
    useless = [each.variant for each in read if 0 < each.plain_brier <= each.brier]  # 0: all alike
    if useless:
        said.append(
            f"As forecasts the probabilities of {listed(useless)} are no better than the accuracy alone, "
            "given to every answer."
        )
    return Markdown(" ".join(said))


def _level(each: Confidence) -> str:
    who, right = listed([each.variant]), each.accuracy
    sure = f"{who} gives its answers a probability of {each.mean:.1f} % on average and is right for {right.mean:.1f} %"
    if each.mean > right.high:
        return f"{sure}: it is too sure."
    if each.mean < right.low:
        return f"{sure}: it is not sure enough."
    return f"{sure}; the difference lies within the accuracy's interval."


def _selective(each: Confidence) -> str:
    if not each.correct.any():
        return "None of them is right, sure or not."
    if each.correct.all():
        return "All of them are right, sure or not."
    if np.ptp(each.probability) == 0:
        return "All have the same probability, which cannot tell right from wrong."
    half, every = round(each.at(0.5), 1), round(each.accuracy.mean, 1)
    than = "more than" if half > every else "fewer than" if half < every else "just as many as"
    return f"Of the half it is surest of, {half:.1f} % are right: {than} of all."
