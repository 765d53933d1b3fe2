"""The exploration's pictures."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.stats import norm  # type: ignore[import-untyped]

from stages.exploration.attention import length_share
from stages.exploration.results import BETAS, Exploration
from stages.reporting.style import COLOURS, WIDTH, logarithmic

DOTS = 300  # of the draws that are shown one by one
EDGES = np.linspace(0, 1, 52)  # of bins, one of which has a half in its middle


def draw_errors(exploration: Exploration) -> Figure:
    """Errors against β on a logarithmic axis: dots are computed by attention, lines are the formulas."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    for colour, (name, (found, formula)) in zip(COLOURS, exploration.errors.items(), strict=False):
        axes.plot(BETAS, formula, color=colour, linewidth=1.4)
        axes.plot(BETAS, found, "o", color=colour, markersize=4, label=name)
    logarithmic(axes, axes.dataLim.y0, axes.dataLim.y1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("β (for the construction: ‖u‖²)")
    axes.set_ylabel("error")
    axes.grid(zorder=0)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5)
    return figure


def draw_lengths(exploration: Exploration) -> Figure:
    """Share of v_a with one head against the drawn length of its key: dots and formula; below, the length's density."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    places = np.linspace(-1.5, 3.5, 501)
    dots = exploration.lengths[:DOTS], exploration.one_head[:DOTS, 0]
    upper.plot(*dots, "o", color=COLOURS[0], markersize=3, alpha=0.5)
    upper.plot(places, length_share(places, float(BETAS[-1])), color=COLOURS[1], linewidth=1.4)
    upper.set_ylabel("share of v_a in c")
    lower.fill_between(places, norm.pdf(places, 1, np.sqrt(0.5)), color=COLOURS[0], alpha=0.4)
    lower.set_ylim(bottom=0)
    lower.set_ylabel("density")
    lower.set_xlabel("drawn length ε of k_a")
    for axes in (upper, lower):
        axes.grid(zorder=0)
    return figure


def draw_heads(exploration: Exploration) -> Figure:
    """Distributions of the shares of v_a and v_b in c, a panel for one head and one for two."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    drawn = {"One head": exploration.one_head, "Two heads, mean of both": exploration.two_heads}
    for axes, (title, shares) in zip(panels, drawn.items(), strict=True):
        for column, name in enumerate(("v_a", "v_b")):
            percent = 100 * np.histogram(shares[:, column], EDGES)[0] / len(shares)
            filled, label = column == 0, f"{name}: {shares[:, column].mean():.2f} ± {shares[:, column].std():.2f}"
            axes.stairs(percent, EDGES, fill=filled, color=COLOURS[column], alpha=0.55 if filled else 1, label=label)
        axes.set_title(title)
        axes.set_xlabel("share of the value in c")
        axes.grid(axis="y", zorder=0)
        axes.set_axisbelow(True)
        axes.legend(fontsize=8.5)
    panels[0].set_ylabel("draws of the keys (%)")
    return figure
