"""The exploration's pictures."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stages.exploration.attention import Array
from stages.exploration.results import Exploration
from stages.reporting.style import COLOURS, DASHES, GREY, INK, WIDTH, logarithmic, styled, svg

BINS = 51  # of a share between 0 and 1; odd, so that one has a half in its middle
VALUE_A, VALUE_B = COLOURS[0], COLOURS[1]


def draw_errors(exploration: Exploration) -> Figure:
    """Errors against β on a logarithmic axis: dots are computed by attention, lines are the formulas."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, line in enumerate(exploration.errors):
        colour = COLOURS[number]
        axes.plot(exploration.fine, line.formula, color=colour, linewidth=1.4, linestyle=DASHES[number % 2])
        axes.plot(exploration.betas, line.found, "o", color=colour, markersize=4, label=line.name)
    axes.axhline(0.01, color=GREY, linestyle=":", linewidth=1.2)
    axes.annotate("1 %", (exploration.betas[-1], 0.01), xytext=(0, 3), textcoords="offset points", ha="right")
    found = np.concatenate([line.found for line in exploration.errors])
    logarithmic(axes, found.min(), found.max())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("β (for the construction: ‖u‖²)")
    axes.set_ylabel("error")
    axes.grid(zorder=0)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5)
    return figure


def draw_heads(exploration: Exploration) -> Figure:
    """Distributions of the shares of v_a and v_b in c, a panel for one head and one for two."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    edges = np.linspace(0, 1, BINS + 1)
    for axes, shares, title in zip(
        panels, (exploration.one_head, exploration.two_heads), ("One head", "Two heads, mean of both"), strict=True
    ):
        for column, (name, colour) in enumerate((("v_a", VALUE_A), ("v_b", VALUE_B))):
            counted, _ = np.histogram(shares[:, column], edges)
            axes.stairs(
                100 * counted / len(shares),
                edges,
                fill=column == 0,
                color=colour,
                alpha=0.55 if column == 0 else 1.0,
                linewidth=1.4,
                label=f"{name} (std {shares[:, column].std():.2f})",
            )
        axes.set_title(title)
        axes.set_xlabel("share of the value in c")
        axes.grid(axis="y", zorder=0)
        axes.set_axisbelow(True)
        axes.legend(fontsize=8.5)
    panels[0].set_ylabel("draws of the keys (%)")
    return figure


def draw_rotation(exploration: Exploration) -> Figure:
    """Scores of one query and one key at all pairs of positions against their distance, rotated and added to."""
    figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    _scores(panels[0], exploration.rotary, "Rotary positions")
    _scores(panels[1], exploration.added, "Positions added to query and key")
    panels[0].set_ylabel("score q·k")
    return figure


def pictures(exploration: Exploration) -> dict[str, str]:
    """SVG text by file name."""
    drawn = {}
    with styled():
        for name, draw in (("errors", draw_errors), ("heads", draw_heads), ("rotation", draw_rotation)):
            drawn[f"{name}.svg"] = svg(draw(exploration))
    return drawn


def _scores(axes: Axes, scores: Array, title: str) -> None:
    t, s = np.tril_indices(len(scores))
    axes.plot(t - s, scores[t, s], ".", color=INK, markersize=3.5, alpha=0.6)
    axes.set_title(title)
    axes.set_xlabel("distance t − s")
    axes.grid(zorder=0)
