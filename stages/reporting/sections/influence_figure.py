"""The pictures of which inputs reach which outputs, and of where the targets stand."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stages.reporting.sections.pictures import TARGETS, Picture
from stages.reporting.style import COLOURS, GREY, INK, WIDTH, styled, svg

LEVELS = (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)  # steps, not a scale: they are read off, and files stay small
COLUMNS = 4
BAR = 1.1  # inches, the colours' scale
PANEL = (WIDTH - BAR) / COLUMNS
LABELS = {"targets": "all targets", "masked_content": "masked content"}


def influence_svg(pictures: Sequence[Picture], titles: Sequence[str]) -> str:
    """Draw each picture's strength in steps, white where there is no influence at all."""
    with styled():
        return svg(draw_influence(pictures, titles))


def targets_svg(targets: pd.DataFrame, starts: Mapping[int, str]) -> str:
    """Draw the share of a recipe's targets from each position on; lines at the positions of `starts`, by name."""
    with styled():
        return svg(draw_targets(targets, starts))


def draw_influence(pictures: Sequence[Picture], titles: Sequence[str]) -> Figure:
    """Return the figure of `influence_svg`."""
    rows = -(-len(pictures) // COLUMNS)
    columns = -(-len(pictures) // rows)
    figure = Figure(figsize=(PANEL * columns + BAR, (PANEL + 0.2) * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = matplotlib.colormaps["viridis_r"].with_extremes(bad="white")
    norm = BoundaryNorm(LEVELS, colours.N, extend="max")
    for axes in panels.flat[len(pictures) :]:
        axes.remove()
    used = panels.flat[: len(pictures)]
    for number, (axes, picture) in enumerate(zip(used, pictures, strict=True)):
        strength = np.ma.masked_array(picture.strength, ~picture.seen)
        image = axes.imshow(strength, cmap=colours, norm=norm, interpolation="none")
        axes.set_title(titles[number], fontsize=8.5)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        if number + columns >= len(pictures):
            axes.set_xlabel("input position (characters)", fontsize=8)
            axes.tick_params(labelbottom=True)
        if number % columns == 0:
            axes.set_ylabel("output position (characters)", fontsize=8)
    bar = figure.colorbar(image, ax=list(used), spacing="uniform", ticks=LEVELS, aspect=15 * rows, shrink=0.95)
    bar.ax.set_yticklabels([f"{level:g}" for level in LEVELS], fontsize=8)
    bar.set_label("strength (white: none)", fontsize=8)
    return figure


def draw_targets(targets: pd.DataFrame, starts: Mapping[int, str]) -> Figure:
    """Return the figure of `targets_svg`."""
    figure = Figure(figsize=(0.7 * WIDTH, 2.7), layout="constrained")
    axes = figure.subplots()
    for name, colour in zip(TARGETS, COLOURS, strict=False):
        total = targets[name].sum()
        if total:
            share = 100 * targets[name][::-1].cumsum()[::-1] / total
            axes.step(targets.index, share, where="mid", color=colour, linewidth=1.5, label=LABELS[name])
            axes.plot(sorted(starts), share.reindex(sorted(starts), fill_value=0), "o", color=colour, markersize=4)
    for start in starts:
        axes.axvline(start, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlim(0, len(targets) - 1)
    axes.set_ylim(0, 103)
    named = axes.secondary_xaxis("top")  # outside of the panel no curve crosses a name
    named.set_xticks(list(starts), list(starts.values()), rotation=30, ha="left", va="bottom", fontsize=8, color=INK)
    named.spines["top"].set_visible(False)
    axes.set_xlabel("output position (characters)")
    axes.set_ylabel("targets there or later (%)")
    axes.grid(zorder=0)
    axes.legend(loc="upper right", fontsize=8.5)
    return figure
