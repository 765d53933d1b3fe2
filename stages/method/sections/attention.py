"""The exploration's pictures."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.stats import norm  # type: ignore[import-untyped]

from stages.method.exploration.attention import length_share
from stages.method.exploration.results import BETAS, Exploration
from stages.reporting.style import COLOURS, WIDTH, logarithmic

DOTS = 300  # of the draws that are shown one by one


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
