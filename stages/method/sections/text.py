"""What models of a text say: the results of stages `grid` and `passages` as tables, passages and a picture."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure
from pydantic import FiniteFloat

from stages.reporting.markdown import block
from stages.reporting.style import COLOURS, DASHES, WIDTH, svg
from stages.reporting.template import Part, fill
from stages.system.records import ORIGIN, Amount, Count, Share, record, some
from stages.system.terminal import harmless

CHOICE = {"variant": str, "width": Count, "learning_rate": Amount}  # what tells a cell of the grid from the others
CELL = record(**CHOICE, parameters=Count, losses=some(Amount), passage=str)
GRID = record(cells=some(CELL), provenance=record(**ORIGIN))  # grid.json
ROW = record(way=str, likelihood=FiniteFloat, repetition=Share, copied=Share, passage=str)
PASSAGES = record(rows=some(ROW), provenance=record(**ORIGIN))  # passages.json
Rows = Sequence[dict[str, Any]]


def text_part(grid: dict[str, Any], passages: dict[str, Any]) -> Part:
    """Return the section; grid and passages: records of the types GRID and PASSAGES."""
    cells = grid["cells"]
    text = fill(
        __file__,
        "text.md.jinja",
        cells=cells,
        best=best_of_each(cells),
        passages=passages["rows"],
        block=lambda passage: block(map(harmless, passage.strip("\n").split("\n"))),
    )
    return Part(text, {"grid.svg": svg(draw_grid(cells))})


def best_of_each(cells: Rows) -> Rows:
    """Return the cell with the least loss in the last epoch of each variant."""
    by_variant = groupby(cells, key=lambda cell: cell["variant"])  # one after the other, as they were trained
    return [min(group, key=lambda cell: cell["losses"][-1]) for _, group in by_variant]


def draw_grid(cells: Rows) -> Figure:
    """Draw loss against epoch, a panel a variant; colours are learning rates, dashes hidden sizes."""
    variants, widths, rates = (list(dict.fromkeys(cell[key] for cell in cells)) for key in CHOICE)
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(1, len(variants), sharey=True, squeeze=False)[0]
    for cell in cells:
        axes = panels[variants.index(cell["variant"])]
        colour = COLOURS[rates.index(cell["learning_rate"]) % len(COLOURS)]
        dash = DASHES[widths.index(cell["width"]) % len(DASHES)]
        label = f"hidden size {cell['width']}, learning rate {cell['learning_rate']:g}"
        epochs = range(1, len(cell["losses"]) + 1)
        axes.plot(epochs, cell["losses"], color=colour, linestyle=dash, linewidth=1.2, label=label)

    for axes, variant in zip(panels, variants, strict=True):
        axes.set_title(variant)
        axes.set_xlabel("epoch")
        axes.locator_params(axis="x", integer=True)
        axes.set_ylim(bottom=0)
        axes.grid(zorder=0)
    panels[0].set_ylabel("loss (nats a character)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8.5)
    return figure
