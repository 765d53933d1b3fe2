"""The picture of confidence: reliability, and accuracy at coverage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stages.reporting.statistics.calibration import FEWEST
from stages.reporting.style import GREY, WIDTH, Dash, legend_columns, looks, styled, svg

NAMED = 5  # lines that can be told apart; further variants are grey
OTHERS = "#C4C4C4"


@dataclass(frozen=True, eq=False)
class Curves:
    """A variant's bins (see `reliability`) and its accuracy at coverage (see `coverage_curve`)."""

    bins: pd.DataFrame
    coverage: pd.DataFrame


def confidence_svg(curves: Mapping[str, Curves], variants: Sequence[str], answers: int) -> str:
    """Draw both panels for the variants of `curves`, best first, each measured on that many answers.

    `variants` are those of the whole report, in the order that gives each its colour.
    """
    with styled():
        return svg(draw_confidence(curves, variants, answers))


def draw_confidence(curves: Mapping[str, Curves], variants: Sequence[str], answers: int) -> Figure:
    """Return the figure of `confidence_svg`."""
    named = list(curves)[:NAMED]
    labels = [*named, *([f"the other {len(curves) - NAMED}"] if len(curves) > NAMED else [])]
    columns = legend_columns(labels)
    figure = Figure(figsize=(WIDTH, 3.3 + 0.2 * -(-len(labels) // columns)), layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = looks(variants)
    for variant, each in curves.items():
        dash, colour = styles[variant] if variant in named else ("-", OTHERS)
        line = {"color": colour, "linestyle": dash, "linewidth": 1.5 if variant in named else 0.8}
        above = 3 if variant in named else 2
        bins = 100 * each.bins[["confidence", "accuracy"]]
        left.plot(bins["confidence"], bins["accuracy"], marker="." if variant in named else "", zorder=above, **line)
        # the accuracy of fewer is mostly chance
        shown = 100 * each.coverage[answers * each.coverage["coverage"] >= min(FEWEST, answers)]
        mark = "." if len(shown) == 1 else ""  # a single point has no line
        right.plot(shown["coverage"], shown["accuracy"], marker=mark, zorder=above, **line)
    left.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    left.set_title("Reliability (dotted: right as often as likely)")
    left.set_xlabel("mean probability of the answers in a bin (%)")
    left.set_ylabel("right (%)")
    right.set_title("Answering only the surest")
    right.set_xlabel("questions answered (%)")
    for axes in (left, right):
        axes.set_xlim(0, 101)
        axes.set_ylim(-2, 102)
        axes.grid(zorder=0)
    figure.legend(handles=_legend(named, labels, styles), loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure


def _legend(named: Sequence[str], labels: Sequence[str], styles: Mapping[str, tuple[Dash, str]]) -> list[Line2D]:
    handles = []
    for label in labels:
        dash, colour = styles[label] if label in named else ("-", OTHERS)
        handles.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.5, label=label))
    return handles
