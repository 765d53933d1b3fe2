"""What the variants cost: the measurements of stage `cost` as tables and a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.evaluations import broken, device_of, read_record
from stages.reporting.markdown import Markdown, table
from stages.reporting.method.complexity import COMPLEXITY
from stages.reporting.style import WIDTH, legend_columns, logarithmic, looks, styled, svg
from stages.reporting.tables import short

QUANTITIES = ("multiply_adds", "training_seconds", "training_bytes", "character_seconds", "state_bytes")
PANELS = (
    ("training_seconds", "Forward and backward (ms)", 1e3),
    ("training_bytes", "Its peak memory (MB)", 1e-6),
    ("character_seconds", "One more character (ms)", 1e3),
)  # what, title, factor
FEWEST = 3  # points of a fit; fewer leave no error to speak of


@dataclass(frozen=True, eq=False)
class Measured:
    """A variant's measurements: QUANTITIES by length, ascending; why other lengths were left out; where it was."""

    variant: str
    recipe: str
    shape: dict[str, int]  # layers, heads, width
    table: pd.DataFrame
    left_out: dict[str, str]
    made: tuple[str, ...]  # commit, device, precision, kernels, libraries


def read_costs(folder: Path) -> Measured:
    """Read cost.json of the variant that `folder` is named after; raises StudyError where it is missing or broken."""
    path = folder / "cost.json"
    record = read_record(path)
    try:
        return Measured(
            variant=folder.name,
            recipe=str(record["recipe"]),
            shape={name: int(record["shape"][name]) for name in ("layers", "heads", "width")},
            table=pd.DataFrame(record["measurements"]).set_index("length").sort_index()[list(QUANTITIES)].astype(float),
            left_out=dict(record["left_out"]),
            made=_made(record["provenance"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None


def complexity_table(variants: Sequence[str]) -> Markdown:
    """Return the complexities that are stated of the variants."""
    stated = [(name, COMPLEXITY[name]) for name in variants if name in COMPLEXITY]
    header = ("variant", "forward pass", "one more character", "its state")
    return table(header, [(name, each.forward, each.character, each.state) for name, each in stated])


def costs_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return what each variant takes at a length."""
    header = (
        "variant", "multiply-adds, M", "forward and backward, ms", "peak memory, MB", "next character, ms", "state, kB",
    )  # fmt: skip
    rows = []
    for each in measured:
        products, seconds, peak, character, state = each.table.loc[length].to_numpy()
        cells = f"{products / 1e6:,.1f}", f"{1e3 * seconds:,.1f}", f"{peak / 1e6:,.1f}", f"{1e3 * character:,.2f}"
        rows.append((each.variant, *cells, f"{state / 1e3:,.1f}"))
    return table(header, rows, right=header[1:])


def exponents_table(measured: Sequence[Measured]) -> Markdown:
    """Return how each quantity grows over the longer half of each variant's lengths."""
    header = ("variant", "multiply-adds", "forward and backward", "peak memory", "next character", "state")
    return table(header, [(each.variant, *map(exponent, _columns(each))) for each in measured], right=header[1:])


def exponent(values: pd.Series) -> str:
    """The power of the index that values grow with over its longer half, by least squares of the logarithms.

    With its standard error; a dash where that half has fewer than three points or a value is not positive.
    """
    longer = values.iloc[len(values) // 2 :]
    if len(longer) < FEWEST or longer.min() <= 0:
        return "–"
    if longer.min() == longer.max():
        return "0.00 ± 0.00"  # where linregress divides by their spread
    fit = stats.linregress(np.log(longer.index.to_numpy(float)), np.log(longer.to_numpy()))
    return f"{fit.slope:z.2f} ± {fit.stderr:.2f}"


def made_table(measured: Sequence[Measured]) -> Markdown:
    """Return where and with what code was measured, once for all variants that share it."""
    header = ("commit", "device", "precision", "kernels", "libraries", "variants")
    made = {each.made: [other.variant for other in measured if other.made == each.made] for each in measured}
    return table(header, [(*key, ", ".join(names)) for key, names in made.items()])


def cost_svg(measured: Sequence[Measured]) -> str:
    """Draw time and memory against length on logarithmic axes."""
    with styled():
        return svg(draw_costs(measured))


def draw_costs(measured: Sequence[Measured]) -> Figure:
    """Return the figure of `cost_svg`."""
    styles = looks([each.variant for each in measured])
    columns = legend_columns(styles)
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * -(-len(styles) // columns)), layout="constrained")
    lengths = sorted({length for each in measured for length in each.table.index})
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
        axes.xaxis.set_major_locator(FixedLocator(lengths[:: 1 + len(lengths) // 5]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(zorder=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure


def _columns(measured: Measured) -> list[pd.Series]:
    return [measured.table[name] for name in QUANTITIES]


def _made(provenance: dict[str, Any]) -> tuple[str, ...]:
    kernels = "torch's" if provenance["kernels"] == "torch" else "compiled"
    libraries = ", ".join(f"{name} {version}" for name, version in provenance["libraries"].items())
    return short(provenance["commit"]), device_of(provenance), str(provenance["precision"]), kernels, libraries
