"""The picture of what is memorised before and after finetuning, and what is extracted."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.style import COLOURS, INK, SMALL, styled, svg

BARS = {
    "memorised, pretrained": ("pretrained", "memorised"),
    "memorised, finetuned": ("finetuned", "memorised"),
    "extracted, finetuned": ("finetuned", "extracted"),
}  # label: weights and measure


def extraction_svg(rows: pd.DataFrame) -> str:
    """Draw `rows` (extraction.csv): three bars a variant with their 95 % intervals, the most extracted on top."""
    with styled():
        return svg(draw_extraction(rows))


def draw_extraction(rows: pd.DataFrame) -> Figure:
    """Return the figure of `extraction_svg`."""
    extracted = rows[(rows.weights == "finetuned") & (rows.measure == "extracted")]
    variants = extracted.sort_values("share", ascending=False, kind="stable").variant.tolist()
    figure = Figure(figsize=(SMALL, 1.2 + 0.55 * len(variants)), layout="constrained")
    axes = figure.subplots()
    for number, (label, (weights, measure)) in enumerate(BARS.items()):
        mine = rows[(rows.weights == weights) & (rows.measure == measure)].set_index("variant").loc[variants]
        middle = np.arange(len(variants)) + 0.27 * (number - 1)
        whiskers = 100 * mine[["ci_low", "ci_high"]].sub(mine["share"], axis=0).abs().to_numpy().T
        error = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0}
        axes.barh(middle, 100 * mine["share"], 0.25, xerr=whiskers, color=COLOURS[number], label=label, error_kw=error)
    axes.set_yticks(range(len(variants)), variants)
    axes.set_ylim(len(variants) - 0.45, -0.55)
    axes.set_xlim(0, 100)
    axes.set_xlabel("facts (%)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
    return figure
