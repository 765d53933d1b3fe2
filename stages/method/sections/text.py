"""What models of a text say: the results of stages `grid` and `passages` as tables, passages and a picture."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any

from matplotlib.figure import Figure
from pydantic import Field, FiniteFloat

from stages.reporting.markdown import Markdown, table
from stages.reporting.style import COLOURS, DASHES, WIDTH
from stages.system.records import ORIGIN, Amount, Count, Share, record, some

WHAT = {"variant": str, "width": Count, "learning_rate": Amount}  # was trained in a cell of the grid
CELL = record(**WHAT, parameters=Count, losses=some(Amount), passage=str)
LIKELIHOOD = Annotated[FiniteFloat, Field(ge=-1e15, le=0)]  # nats a character
ROW = record(way=str, likelihood=LIKELIHOOD, repetition=Share, copied=Share, passage=str)
GRID, PASSAGES = (
    record(cells=some(CELL), provenance=record(**ORIGIN)),
    record(rows=some(ROW), provenance=record(**ORIGIN)),
)  # their files
Cells = Sequence[dict[str, Any]]


def grid_table(cells: Cells) -> Markdown:
    """Parameters and loss of the last epoch by variant, hidden size and learning rate."""
    header = ("variant", "hidden size", "learning rate", "parameters", "loss, first epoch", "loss, last epoch")
    rows = [
        (each["variant"], each["width"], f"{each['learning_rate']:g}", f"{each['parameters']:,}",
         f"{each['losses'][0]:.3f}", f"{each['losses'][-1]:.3f}")
        for each in cells
    ]  # fmt: skip
    return table(header, rows, right=header[1:])


def best_of_each(cells: Cells) -> Cells:
    """The cell with the least loss in the last epoch of each variant."""
    by_variant = groupby(cells, key=lambda each: each["variant"])  # one after the other, as they were trained
    return [min(group, key=lambda each: each["losses"][-1]) for _, group in by_variant]


def passages_table(rows: Cells) -> Markdown:
    """Likelihood, repetition and copied share by the way in which characters are chosen."""
    header = ("characters", "log-likelihood, nats a character", "repetition, %", "copied, %")
    cells = [
        (each["way"], f"{each['likelihood']:.2f}", f"{100 * each['repetition']:.1f}", f"{100 * each['copied']:.1f}")
        for each in rows
    ]
    return table(header, cells, right=header[1:])


def draw_grid(cells: Cells) -> Figure:
    """Loss against epoch, a panel a variant; colours are learning rates, dashes hidden sizes."""
    variants, widths, rates = (list(dict.fromkeys(each[key] for each in cells)) for key in WHAT)
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(1, len(variants), sharey=True, squeeze=False)[0]
    for each in cells:
        axes = panels[variants.index(each["variant"])]
        colour = COLOURS[rates.index(each["learning_rate"]) % len(COLOURS)]
        dash = DASHES[widths.index(each["width"]) % len(DASHES)]
        label = f"hidden size {each['width']}, learning rate {each['learning_rate']:g}"
        epochs = range(1, len(each["losses"]) + 1)
        axes.plot(epochs, each["losses"], color=colour, linestyle=dash, linewidth=1.2, label=label)
    for axes, variant in zip(panels, variants, strict=True):
        axes.set_title(variant)
        axes.set_xlabel("epoch")
        axes.locator_params(axis="x", integer=True)
        axes.set_ylim(bottom=0)
        axes.grid(zorder=0)
    panels[0].set_ylabel("loss (nats a character)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8.5)
    return figure
