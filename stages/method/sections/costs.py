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
from stages.reporting.style import PALE, WIDTH, entries, legend_columns, logarithmic, looks
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
)  # quantity, title, factor


@dataclass(frozen=True, eq=False)
class Measured:
    """A variant's measurements: QUANTITIES by length, ascending."""

    variant: str
    recipe: str
    shape: dict[str, int]  # layers, heads, width
    table: pd.DataFrame
    made: str  # commit, device, precision, kernels, libraries

    def complexity(self, part: str) -> str:
        """Return what is stated of the variant's `part`, a field of Complexity; a dash where nothing is."""
        return getattr(COMPLEXITY.get(self.variant), part, "–")

    def cells(self, length: int, quantity: str, factor: float, decimals: int = 1) -> list[str]:
        """Return a quantity at a length, in a unit that has `factor` of them, and its exponent."""
        return [f"{factor * self.table[quantity][length]:,.{decimals}f}", exponent(self.table[quantity])]


def read_costs(folder: Path) -> Measured:
    """Read cost.json of the variant that `folder` is named after; raises StudyError where it is missing or broken."""
    with as_written(path := folder / "cost.json"):
        cost = read_record(path, COST)
        table = pd.DataFrame(cost["measurements"]).set_index("length").sort_index().astype(float)
        if not table.index.is_unique:
            raise ValueError("a length twice")
        return Measured(folder.name, cost["recipe"], cost["shape"], table, made(cost["provenance"]))


def made(provenance: dict[str, Any]) -> str:
    """Return where a result comes from, in a line."""
    where = f"{provenance['device']}, {provenance['precision']}, {kernels_in_words(provenance['kernels'])} kernels"
    libraries = ", ".join(map(" ".join, provenance["libraries"].items()))
    return f"commit {short(provenance['commit'])} on {where}; {libraries}"


def forward_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return complexity, products, time and memory of reading and learning from a text of a length; exponents."""
    header = (
        "variant", "operations", "multiply-adds, M", "exponent", "forward and backward, ms", "exponent",
        "peak memory, MB", "exponent",
    )  # fmt: skip
    rows = []
    for variant in measured:
        row = [variant.variant, variant.complexity("forward"), *variant.cells(length, "multiply_adds", 1e-6)]
        row += variant.cells(length, "training_seconds", 1e3) + variant.cells(length, "training_bytes", 1e-6)
        rows.append(row)
    return table(header, rows, right=header[2:])


def generation_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return complexity, time and memory of one more character at the end of a text of a length; exponents."""
    header = ("variant", "operations", "next character, ms", "exponent", "its state", "state, kB", "exponent")
    rows = []
    for variant in measured:
        row = [variant.variant, variant.complexity("character"), *variant.cells(length, "character_seconds", 1e3, 2)]
        row += [variant.complexity("state"), *variant.cells(length, "state_bytes", 1e-3)]
        rows.append(row)
    return table(header, rows, right=("next character, ms", "exponent", "state, kB"))


def exponent(values: pd.Series) -> str:
    """Return the power of the index that values grow with over its longer half, by least squares, and its error."""
    longer = values.iloc[len(values) // 2 :]
    if len(longer) < 3 or longer.min() <= 0:  # a fit of two points has no error
        return "–"
    if longer.min() == longer.max():
        return "0.00 ± 0.00"  # where linregress divides by their spread
    fit = stats.linregress(np.log(longer.index.to_numpy(float)), np.log(longer.to_numpy()))
    return f"{fit.slope:z.2f} ± {fit.stderr:.2f}"


def draw_costs(measured: Sequence[Measured], leading: Sequence[str] = ()) -> Figure:
    """Draw time and memory against length on logarithmic axes.

    leading: the variants that stand out where there are many.
    """
    look = looks([variant.variant for variant in measured], leading)
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    ticks = sorted(set().union(*(variant.table.index for variant in measured)))[::2]
    panels = figure.subplots(1, len(PANELS))
    for axes, (quantity, title, factor) in zip(panels, PANELS, strict=True):
        for variant in measured:
            values = factor * variant.table[quantity]
            shown = values[values > 0]  # memory too small to be seen has no logarithm
            dash, colour = look[variant.variant]
            line = {"color": colour, "linestyle": dash, "marker": ".", "zorder": 2 + (colour != PALE)}
            axes.plot(shown.index, shown, linewidth=1.4, label=variant.variant, **line)

        low = axes.dataLim.y0
        high = max(axes.dataLim.y1, 10 * low)  # a flat line shall look flat
        logarithmic(axes, low, high)
        axes.set_ylim(low / 1.3, 1.3 * high)
        axes.set_title(title)
        axes.set_xlabel("length (characters)")
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{length:,}" for length in ticks])
        axes.grid(zorder=0)
    handles, labels = entries(panels[0], look)
    figure.legend(handles, labels, loc="outside lower center", ncols=legend_columns(labels), fontsize=8.5)
    return figure
