"""The picture of an ablation: what is answered and what is memorised, change by change."""

import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.style import GREY, INK, SMALL, styled, svg

ANSWERED, MEMORISED = "#0072B2", "#E69F00"


def ablation_svg(rows: pd.DataFrame) -> str:
    """Draw rows of ablation.csv from top to bottom, the first being the full recipe."""
    with styled():
        return svg(draw_ablation(rows))


def draw_ablation(rows: pd.DataFrame) -> Figure:
    """Return the figure of `ablation_svg`."""
    figure = Figure(figsize=(SMALL, 1.1 + 0.34 * len(rows)), layout="constrained")
    axes = figure.subplots()
    height = range(len(rows))
    answered, memorised = 100 * rows.accuracy, 100 * rows.memorised
    axes.axvline(answered.iloc[0], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    axes.hlines(height, answered, memorised, color="#BBBBBB", linewidth=1.2, zorder=2)
    whiskers = [answered - 100 * rows.low, 100 * rows.high - answered]
    axes.errorbar(answered, height, xerr=whiskers, fmt="none", color=INK, linewidth=1.0, capsize=2.5, zorder=3)
    axes.scatter(answered, height, s=34, color=ANSWERED, zorder=4, label="answered (95 % interval)")
    axes.scatter(memorised, height, s=34, color=MEMORISED, marker="D", zorder=4, label="memorised in page form")
    axes.set_yticks(height, rows.change)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("held-out questions, or facts of the pages (%)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", zorder=0)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
    return figure
