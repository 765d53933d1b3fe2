"""The picture of what is memorised and what can be asked."""

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stages.reporting.style import WIDTH, legend_columns, looks, styled, svg

FEW = 5  # facts that a group needs to be drawn
LETTER = 0.085  # inches of a title's letter, with room to spare
BESIDE = 1.1  # inches of the figure that no panel has: labels and gaps
MEASURES = (("memorised", "memorised (%)"), ("asked_of_memorised", "asked of memorised (%)"))


def knowledge_svg(grouped: pd.DataFrame, variants: Sequence[str]) -> str:
    """Draw the shares of `grouped` (rows of knowledge.csv): a column of panels a split, a line a variant.

    `variants` are those of the whole report.
    """
    with styled():
        return svg(draw_knowledge(grouped, variants))


def draw_knowledge(grouped: pd.DataFrame, variants: Sequence[str]) -> Figure:
    """Return the figure of `knowledge_svg`."""
    styles = looks(variants, shown=set(grouped["variant"]))
    titles = list(dict.fromkeys(grouped["by"]))
    names = {title: _in_order(grouped[grouped["by"] == title]) for title in titles}
    columns = legend_columns(styles)
    figure = Figure(figsize=(WIDTH, 4.4 + 0.2 * -(-len(styles) // columns)), layout="constrained")
    ratios = [max(2, len(names[title])) for title in titles]
    panels = figure.subplots(len(MEASURES), len(titles), sharey=True, sharex="col", width_ratios=ratios, squeeze=False)
    apart = 0.4 / max(1, len(styles) - 1)  # variants stand beside each other, so that none hides another
    for i, (measure, label) in enumerate(MEASURES):
        panels[i, 0].set_ylabel(label)
        for j, title in enumerate(titles):
            axes = panels[i, j]
            for number, (variant, (dash, colour)) in enumerate(styles.items()):
                rows = grouped[(grouped["by"] == title) & (grouped["variant"] == variant)].set_index("group")
                counted = rows["facts"] * (rows["memorised"] if measure == "asked_of_memorised" else 1)
                heights = 100 * rows[measure].where(counted >= FEW).reindex(names[title]).to_numpy(float)
                x = np.arange(len(heights)) + apart * (number - (len(styles) - 1) / 2)
                axes.plot(
                    x, heights, color=colour, linestyle=dash, marker="o", markersize=4, linewidth=1.2, clip_on=False
                )
            axes.set_ylim(0, 100)
            axes.set_xlim(-0.5, len(names[title]) - 0.5)
            axes.grid(axis="y", zorder=0)
            if i == 0:
                axes.set_title(textwrap.fill(title, int((WIDTH - BESIDE) * ratios[j] / sum(ratios) / LETTER)))
            counts = grouped[grouped["by"] == title].groupby("group")["facts"].max()
            labels = [f"{_broken(name, 8)}\n({counts[name]:,})" for name in names[title]]
            axes.set_xticks(range(len(labels)), labels, fontsize=8)
    figure.supxlabel("group (facts)", fontsize=9)
    handles = [
        Line2D([], [], color=colour, linestyle=dash, marker="o", markersize=4, linewidth=1.2, label=variant)
        for variant, (dash, colour) in styles.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, fontsize=8.5)
    return figure


def _in_order(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(rows["group"]))


def _broken(text: str, width: int) -> str:
    """The text in two lines where it is longer than `width`."""
    if len(text) <= width:
        return text
    words = text.split()
    half = len(words) // 2
    return " ".join(words[:half]) + "\n" + " ".join(words[half:])
