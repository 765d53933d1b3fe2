"""The picture of what is left of what is known when the page begins further on."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.style import WIDTH, legend_columns, looks, styled, svg


def shifts_svg(rows: pd.DataFrame, variants: Sequence[str]) -> str:
    """Draw the shares of `rows` (shifts.csv): a panel for the weights before and after finetuning, a line a variant.

    `variants` are those of the whole report.
    """
    with styled():
        return svg(draw_shifts(rows, variants))


def draw_shifts(rows: pd.DataFrame, variants: Sequence[str]) -> Figure:
    """Return the figure of `shifts_svg`."""
    styles = looks(variants, shown=set(rows["variant"]))
    columns = legend_columns(styles)
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * -(-len(styles) // columns)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    steps = sorted(rows["shift"].unique())
    for axes, (weights, mine) in zip(panels, rows.groupby("weights", sort=False), strict=True):
        for variant, (dash, colour) in styles.items():
            line = mine[mine["variant"] == variant].set_index("shift").reindex(steps)
            places = range(len(steps))
            axes.plot(places, 100 * line["spelled"], color=colour, linestyle=dash, marker="o", markersize=4,
                      linewidth=1.2, clip_on=False, label=variant)  # fmt: skip
            axes.fill_between(places, 100 * line["low"], 100 * line["high"], color=colour, alpha=0.12, linewidth=0)
        axes.set_title(f"{weights} weights")
        axes.set_xticks(range(len(steps)), [f"{step:,}" for step in steps])
        axes.set_xlim(-0.2, len(steps) - 0.8)
        axes.set_ylim(0, 100)
        axes.grid(axis="y", zorder=0)
    panels[0].set_ylabel("places spelled (%)")
    figure.supxlabel("characters before the page", fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=8.5)
    return figure
