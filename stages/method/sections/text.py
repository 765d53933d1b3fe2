"""What models of a text write: the results of stages `grid` and `passages` as tables, passages and a picture."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter
from pydantic import FiniteFloat

from stages.reporting.markdown import block
from stages.reporting.style import COLOURS, WIDTH, svg
from stages.reporting.template import Part, fill
from stages.system.records import ORIGIN, Amount, Count, Share, record, some
from stages.system.terminal import harmless

CHOICE = {"variant": str, "width": Count, "learning_rate": Amount}  # of a cell of the grid
CELL = record(**CHOICE, parameters=Count, losses=some(Amount), passage=str, non_words=Share)
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
        best=best_of_each(cells, "variant", "width"),
        shown=shown(cells),
        passages=passages["rows"],
        block=lambda passage: block(map(harmless, passage.strip("\n").split("\n"))),
    )
    return Part(text, {"grid.svg": svg(draw_grid(cells))})


def best_of_each(cells: Rows, *keys: str) -> Rows:
    """Return the cell with the least last loss for each value of the keys, sorted by the number of parameters."""
    best: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in sorted(cells, key=lambda cell: cell["losses"][-1]):
        best.setdefault(tuple(cell[key] for key in keys), cell)
    return sorted(best.values(), key=lambda cell: cell["parameters"])


def shown(cells: Rows) -> Rows:
    """Return each variant's best training and, of the same width, that with the lowest learning rate."""
    pairs = []
    for best in best_of_each(cells, "variant"):
        like = [cell for cell in cells if (cell["variant"], cell["width"]) == (best["variant"], best["width"])]
        lowest = min(like, key=lambda cell: cell["learning_rate"])
        pairs += [best] if lowest is best else [best, lowest]
    return pairs


def draw_grid(cells: Rows) -> Figure:
    """Draw the least loss against parameters, and loss and non-words against the rate, a colour a variant."""
    variants, widths = (list(dict.fromkeys(cell[key] for cell in cells)) for key in ("variant", "width"))
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    sizes, losses, words = figure.subplots(1, 3)
    best = best_of_each(cells, "variant", "width")
    for variant, colour in zip(variants, cycle(COLOURS), strict=False):
        points = [(cell["parameters"], cell["losses"][-1]) for cell in best if cell["variant"] == variant]
        sizes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, linewidth=1.2, label=variant)
        for rank, width in enumerate(sorted(widths)):
            row = [cell for cell in cells if (cell["variant"], cell["width"]) == (variant, width)]
            row.sort(key=lambda cell: cell["learning_rate"])
            rates = [cell["learning_rate"] for cell in row]
            for axes, values in (
                (losses, [cell["losses"][-1] for cell in row]),
                (words, [100 * cell["non_words"] for cell in row]),
            ):
                axes.plot(rates, values, color=colour, linewidth=0.5 + 0.35 * rank)

    for axes, x, y in (
        (sizes, "parameters", "least loss (nats a character)"),
        (losses, "learning rate", "loss (nats a character)"),
        (words, "learning rate", "non-words (%)"),
    ):
        axes.set_xscale("log")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(zorder=0)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    sizes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    sizes.xaxis.set_major_formatter(EngFormatter(sep=""))
    figure.legend(*sizes.get_legend_handles_labels(), loc="outside lower center", ncols=len(variants))
    return figure
