"""What the variants cost: the measurements of stage `cost` as tables and a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field
from scipy import stats  # type: ignore[import-untyped]

from stages.method.sections.complexity import COMPLEXITY
from stages.reporting.markdown import Markdown, table
from stages.reporting.style import WIDTH, legend_columns, logarithmic, looks
from stages.reporting.tables import kernels_in_words, short
from stages.system.digests import as_written
from stages.system.records import ORIGIN, Amount, Count, read_record, record, some

QUANTITIES = ("multiply_adds", "training_seconds", "training_bytes", "character_seconds", "state_bytes")
ON_AXES = dict.fromkeys(("training_seconds", "character_seconds"), Annotated[Amount, Field(gt=0)])  # logarithmic ones
MEASUREMENT = record(length=Count, **dict.fromkeys(QUANTITIES, Amount) | ON_AXES)
SHAPE = record(layers=Count, heads=Count, width=Count)
COST = record(recipe=str, shape=SHAPE, measurements=some(MEASUREMENT), provenance=record(**ORIGIN))  # cost.json
PANELS = (
    ("training_seconds", "Forward and backward (ms)", 1e3),
    ("training_bytes", "Its peak memory (MB)", 1e-6),
    ("character_seconds", "One more character (ms)", 1e3),
)  # what, title, factor


@dataclass(frozen=True, eq=False)
class Measured:
    """A variant's measurements: QUANTITIES by length, ascending."""

    variant: str
    recipe: str
    shape: dict[str, int]  # layers, heads, width
    table: pd.DataFrame
    made: str  # commit, device, precision, kernels, libraries


def read_costs(folder: Path) -> Measured:
    """Read cost.json of the variant that `folder` is named after; raises StudyError where it is missing or broken."""
    with as_written(path := folder / "cost.json"):
        found = read_record(path, COST)
        table = pd.DataFrame(found["measurements"]).set_index("length").sort_index().astype(float)
        if not table.index.is_unique:
            raise ValueError("a length twice")
        return Measured(folder.name, found["recipe"], found["shape"], table, made(found["provenance"]))


def made(provenance: dict[str, Any]) -> str:
    """Where a result comes from, in a line."""
    where = f"{provenance['device']}, {provenance['precision']}, {kernels_in_words(provenance['kernels'])} kernels"
    libraries = ", ".join(map(" ".join, provenance["libraries"].items()))
    return f"commit {short(provenance['commit'])} on {where}; {libraries}"


def forward_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return complexity, products, time and memory of reading and learning from a text of a length; exponents."""
    header = (
        "variant", "operations", "multiply-adds, M", "exponent", "forward and backward, ms", "exponent",
        "peak memory, MB", "exponent",
    )  # fmt: skip
    quantities = (("multiply_adds", 1e-6, 1), ("training_seconds", 1e3, 1), ("training_bytes", 1e-6, 1))
    rows = [(each.variant, _words(each, "forward"), *_cells(each, length, quantities)) for each in measured]
    return table(header, rows, right=header[2:])


def generation_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return complexity, time and memory of one more character at the end of a text of a length; exponents."""
    header = ("variant", "operations", "next character, ms", "exponent", "its state", "state, kB", "exponent")
    rows = []
    for each in measured:
        seconds, state = (("character_seconds", 1e3, 2),), (("state_bytes", 1e-3, 1),)
        first = (each.variant, _words(each, "character"), *_cells(each, length, seconds))
        rows.append((*first, _words(each, "state"), *_cells(each, length, state)))
    return table(header, rows, right=("next character, ms", "exponent", "state, kB"))


def exponent(values: pd.Series) -> str:
    """The power of the index that values grow with over its longer half, by least squares, with its standard error."""
    longer = values.iloc[len(values) // 2 :]
    if len(longer) < 3 or longer.min() <= 0:  # of two points a fit has no error
        return "–"
    if longer.min() == longer.max():
        return "0.00 ± 0.00"  # where linregress divides by their spread
    fit = stats.linregress(np.log(longer.index.to_numpy(float)), np.log(longer.to_numpy()))
    return f"{fit.slope:z.2f} ± {fit.stderr:.2f}"


def draw_costs(measured: Sequence[Measured]) -> Figure:
    """Time and memory against length on logarithmic axes."""
    styles = looks([each.variant for each in measured])
    columns = legend_columns(styles)
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * -(-len(styles) // columns)), layout="constrained")
    ticks = sorted({length for each in measured for length in each.table.index})[::2]
    panels = figure.subplots(1, len(PANELS))
    for axes, (what, title, factor) in zip(panels, PANELS, strict=True):
        for each in measured:
            shown = factor * each.table[what][each.table[what] > 0]  # memory too small to be seen has no logarithm
            dash, colour = styles[each.variant]
            axes.plot(shown.index, shown, color=colour, linestyle=dash, marker=".", linewidth=1.4, label=each.variant)
        low, high = axes.dataLim.y0, max(axes.dataLim.y1, 10 * axes.dataLim.y0)  # a flat line shall look flat
        logarithmic(axes, low, high)
        axes.set_ylim(low / 1.3, 1.3 * high)
        axes.set_title(title)
        axes.set_xlabel("length (characters)")
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{length:,}" for length in ticks])
        axes.grid(zorder=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure


def _words(measured: Measured, what: str) -> str:
    """What is stated of a variant's complexity; a dash where nothing is."""
    return getattr(COMPLEXITY.get(measured.variant), what, "–")


def _cells(measured: Measured, length: int, quantities: Sequence[tuple[str, float, int]]) -> list[str]:
    """Value and exponent of quantities: name, factor of the unit, decimals."""
    cells = []
    for name, factor, decimals in quantities:
        cells += [f"{factor * measured.table[name][length]:,.{decimals}f}", exponent(measured.table[name])]
    return cells
