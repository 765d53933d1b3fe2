"""The picture of confidence: reliability, and accuracy at coverage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stages.reporting.calibration import FEWEST
from stages.reporting.style import GREY, WIDTH, looks, styled, svg


@dataclass(frozen=True, eq=False)
class Curves:
    """A variant's bins (see `reliability`) and its accuracy at coverage (see `coverage_curve`)."""

    bins: pd.DataFrame
    coverage: pd.DataFrame


def confidence_svg(curves: Mapping[str, Curves], variants: Sequence[str], answers: int) -> str:
    """Draw both panels for the variants of `curves`, each measured on that many answers.

    `variants` are those of the whole report, in the order that gives each its colour.
    """
    with styled():
        return svg(draw_confidence(curves, variants, answers))


def draw_confidence(curves: Mapping[str, Curves], variants: Sequence[str], answers: int) -> Figure:
    """Return the figure of `confidence_svg`."""
    styles = looks(variants)
    entry = 0.65 + 0.075 * max(map(len, variants))  # inches: the line's sample and gaps, then the name
    columns = min(len(curves), 6, max(1, int(WIDTH / entry)))
    figure = Figure(figsize=(WIDTH, 3.3 + 0.2 * -(-len(curves) // columns)), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    left.annotate(
        "right as often as likely",
        (55, 55),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        color=GREY,
        fontsize=8,
    )
    fewest = min(FEWEST, answers) / answers  # the accuracy of fewer is mostly chance
    handles = []
    for variant, each in curves.items():
        dash, colour = styles[variant]
        left.plot(
            100 * each.bins["confidence"],
            100 * each.bins["accuracy"],
            color=colour,
            linestyle=dash,
            marker=".",
            linewidth=1.4,
            zorder=3,
        )
        shown = each.coverage[each.coverage["coverage"] >= fewest]
        right.plot(
            100 * shown["coverage"],
            100 * shown["accuracy"],
            color=colour,
            linestyle=dash,
            linewidth=1.4,
            marker="." if len(shown) == 1 else "",
            zorder=3,
        )
        handles.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.4, label=variant))
    left.set_title("Reliability")
    left.set_xlabel("mean probability of the answers in a bin (%)")
    left.set_ylabel("right (%)")
    right.set_title("Answering only the surest")
    right.set_xlabel("questions answered (%)")
    for axes in (left, right):
        axes.set_xlim(0, 100)
        axes.set_ylim(-2, 102)
        axes.grid(zorder=0)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure
