"""What the variants cost: the measurements of stage `cost` as a table and a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.style import PALE, WIDTH, entries, legend_columns, logarithmic, looks, svg
from stages.reporting.tables import kernels_in_words, short
from stages.reporting.template import Part, fill
from stages.system.errors import StudyError
from stages.system.records import ORIGIN, Amount, Count, read_record, record, some

QUANTITIES = ("multiply_adds", "training_seconds", "training_bytes", "character_seconds", "state_bytes")
PANELS = {
    "training_seconds": ("Forward and backward (ms)", 1e3),
    "training_bytes": ("Its peak memory (MB)", 1e-6),
    "character_seconds": ("One more character (ms)", 1e3),
}  # title and factor
MEASUREMENT = record(length=Count, **dict.fromkeys(QUANTITIES, Amount))
SHAPE = record(layers=Count, heads=Count, width=Count)
COST = record(recipe=str, shape=SHAPE, measurements=some(MEASUREMENT), provenance=record(**ORIGIN))  # cost.json


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
    cost = read_record(folder / "cost.json", COST)
    by_length = pd.DataFrame(cost["measurements"]).set_index("length")
    return Measured(folder.name, cost["recipe"], cost["shape"], by_length, made(cost["provenance"]))


def made(provenance: dict[str, Any]) -> str:
    """Return where a result comes from, in a line."""
    where = f"{provenance['device']}, {provenance['precision']}, {kernels_in_words(provenance['kernels'])} kernels"
    libraries = ", ".join(map(" ".join, provenance["libraries"].items()))
    return f"commit {short(provenance['commit'])} on {where}; {libraries}"


def costs_part(measured: Sequence[Measured], latents: int, leading: Sequence[str]) -> Part:
    """Return the section; `latents` are the perceiver's, `leading` the variants that stand out in the figure.

    Raises StudyError where no length was measured of every variant.
    """
    shared = set.intersection(*(set(variant.table.index) for variant in measured))
    if not shared:
        raise StudyError("params.yaml: cost.lengths: none was measured of every variant; raise cost.longest_run")
    length = max(shared)
    text = fill(
        __file__,
        "costs.md.jinja",
        first=measured[0],
        at_length={variant.variant: variant.table.loc[length] for variant in measured},
        length=length,
        latents=latents,
    )
    rows = pd.concat([variant.table.assign(variant=variant.variant).reset_index() for variant in measured])
    csv = rows.to_csv(index=False, lineterminator="\n")
    return Part(text, {"cost.svg": svg(draw_costs(measured, leading)), "cost.csv": csv})


def draw_costs(measured: Sequence[Measured], leading: Sequence[str] = ()) -> Figure:
    """Draw time and memory against length on logarithmic axes."""
    look = looks([variant.variant for variant in measured], leading)
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    ticks = sorted(set().union(*(variant.table.index for variant in measured)))[::2]
    panels = figure.subplots(1, len(PANELS))
    for axes, (quantity, (title, factor)) in zip(panels, PANELS.items(), strict=True):
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
    figure.legend(handles, labels, loc="outside lower center", ncols=legend_columns(labels))
    return figure
