"""The picture of all differences: a matrix of points, dark where two differ."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from stages.reporting.statistics.significance import CLEAR, OPEN, THESE_SEEDS, Difference
from stages.reporting.style import INK, WIDTH, styled, svg

FILL = {CLEAR: "#0072B2", THESE_SEEDS: "#BDBDBD", OPEN: "#EFEFEF"}
TEXT = {CLEAR: "white", THESE_SEEDS: INK, OPEN: INK}
MEANING = {CLEAR: "they differ", THESE_SEEDS: "for these seeds only", OPEN: "not shown to differ"}
CELL = 1.1, 0.31  # inches, at most and always
NARROWEST = 4.6  # inches of the whole figure: the legend's


def differences_svg(found: Mapping[tuple[str, str], Difference], names: Sequence[str]) -> str:
    """Draw the difference in points of each pair of `names`, best first: a row's lead over each column."""
    with styled():
        return svg(draw_differences(found, names))


def draw_differences(found: Mapping[tuple[str, str], Difference], names: Sequence[str]) -> Figure:
    """Return the figure of `differences_svg`; `found` has a difference for each pair in the order of `names`."""
    rows, columns = names[:-1], names[1:]
    longest = 0.075 * max(map(len, names))  # inches
    width = min(CELL[0], (WIDTH - longest - 0.3) / len(columns))
    whole = max(NARROWEST, longest + 0.3 + width * len(columns))
    upright = longest + 0.1 > width  # names above the columns need a slope
    height = CELL[1] * len(rows) + (0.75 * longest if upright else 0.1) + 0.7
    figure = Figure(figsize=(whole, height), layout="constrained")
    axes = figure.subplots()
    for pair, difference in found.items():
        row, column = rows.index(pair[0]), columns.index(pair[1])
        corner = (column - 0.48, row - 0.46)
        axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=FILL[difference.verdict], edgecolor="none"))
        axes.text(
            column,
            row,
            f"{difference.points:.1f}",
            ha="center",
            va="center",
            fontsize=8,
            color=TEXT[difference.verdict],
            fontweight="bold" if difference.verdict == CLEAR else "normal",
        )
    axes.set_xlim(-0.5, (whole - longest - 0.3) / width - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)  # best on top
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns)
    axes.tick_params(length=0, labelsize=8.5)
    axes.tick_params(axis="x", bottom=False, labelbottom=False, labeltop=True, labelrotation=40 if upright else 0)
    if upright:
        for label in axes.get_xticklabels():
            label.set(horizontalalignment="left", rotation_mode="anchor")
    for spine in axes.spines.values():
        spine.set_visible(False)
    seen = {difference.verdict for difference in found.values()}
    handles = [Patch(facecolor=FILL[kind], label=MEANING[kind]) for kind in FILL if kind in seen]
    title = "lead of the row over the column, in points"
    figure.legend(handles=handles, title=title, title_fontsize=8.5, loc="outside lower center", ncols=3, fontsize=8.5)
    return figure
