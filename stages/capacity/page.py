"""The page of the study of capacity, from the rows that are there: reports/capacity/page/."""

from collections.abc import Sequence
from itertools import groupby
from math import log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.capacity.cell import Row
from stages.capacity.plan import ROWS, Plan, as_choice
from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, table
from stages.reporting.style import COLOURS, GREY, PALE, WIDTH, styled, svg
from stages.reporting.tables import short
from stages.reporting.template import fill
from stages.settings import load as load_settings
from stages.system.errors import Parser, StudyError, command
from stages.trials.rows import read_rows

PAGE = ROWS.parent / "page"
NINETY = 0.9  # of the bits asked: how many exposures that takes
COLUMNS = 4  # panels of a row of the figure


@command
def main() -> None:
    """Write the page from reports/capacity/rows.csv."""
    Parser(description=main.__doc__).parse_args()
    plan = Plan(load_settings(), read_rows(ROWS, Row))
    if not plan.rows:
        raise StudyError(f"{ROWS} has no rows of today's settings; `dvc repro stages/capacity/dvc.yaml` makes them")
    write_capacity(PAGE, plan)


@styled()
def write_capacity(target: Path, plan: Plan) -> None:
    """Write report.md, index.html and the figure to the folder `target`; parts without rows are left out."""
    rows = list(plan.rows.values())
    loads = frame(plan, "loads")
    tables = {
        "loads": share_table(loads, "variant", "load"),
        "differences": differences(loads),
        "doses": share_table(frame(plan, "doses"), "variant", "exposures"),
        "widths": slopes(frame(plan, "widths")),
        "controls": control_table(plan),
        "optimizers": optimizer_table(frame(plan, "optimizers")),
        "rates": rate_table(plan),
    }
    files = {"loads.svg": svg(draw_loads(loads))} if len(loads) else {}
    made = sorted({(short(row.commit), row.device, row.precision) for row in rows})
    text = fill(__file__, "capacity.md.jinja", tables=tables, made=made, section=plan.section, cells=len(rows))
    write_page(target, text, files)


def frame(plan: Plan, part: str) -> pd.DataFrame:
    """Return the rows of a part with `share`, bits stored of those asked, and `density`, bits stored a parameter."""
    rows = [plan.rows[cell].model_dump() for cell in plan.cells(part)]
    data = pd.DataFrame(rows, columns=[*Row.model_fields])
    return data.assign(share=data.bits_stored / data.bits_asked, density=data.bits_stored / data.parameters)


def with_interval(values: Sequence[float], digits: int = 2) -> str:
    """Return the mean of the seeds and, from three on, its 95 % interval (Student's t)."""
    if not len(values):
        return "–"
    mean = float(np.mean(values))
    if len(values) < 3:
        return f"{mean:.{digits}f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / sqrt(len(values))
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def share_table(data: pd.DataFrame, row: str, column: str) -> Markdown | None:
    """Return the share of the bits that is stored, by two columns of the data; the best come first."""
    if data.empty:
        return None
    columns = sorted(data[column].unique())
    cells = {key: group.share.tolist() for key, group in data.groupby([row, column])}
    order = data.groupby([row, column]).share.mean().unstack().sort_values(columns[::-1], ascending=False).index
    seconds = data.groupby(row).seconds.mean()
    header = (row, *(f"{column} {value:g}" for value in columns), "seeds", "seconds a run")
    rows = []
    for name in order:
        seeds = data[data[row] == name].seed.nunique()
        shares = [with_interval(cells.get((name, value), [])) for value in columns]
        rows.append((name, *shares, seeds, f"{seconds[name]:.0f}"))
    return table(header, rows, right=header[1:])


def differences(data: pd.DataFrame) -> Markdown | None:
    """Return how far the mixers lie apart at each load: the best, the worst, and the points between them."""
    if data.empty:
        return None
    means = data.groupby(["load", "variant"]).share.mean()
    rows = []
    for load in sorted(data.load.unique()):
        of_load = means[load]
        best, worst = of_load.idxmax(), of_load.idxmin()
        points = 100 * (of_load[best] - of_load[worst])
        rows.append((f"{load:g}", len(of_load), best, worst, f"{points:.0f}"))
    header = ("load", "mixers", "most", "least", "points between")
    return table(header, rows, right=("load", "mixers", "points between"))


def slopes(data: pd.DataFrame) -> Markdown | None:
    """Return the bits stored by width, and the slope of their logarithm against that of the parameters."""
    if data.empty:
        return None
    widths = sorted(data.width.unique())
    header = ("variant", *(f"width {width}: bits a parameter" for width in widths), "slope")
    rows = []
    for variant, group in data.groupby("variant", sort=False):
        densities = [with_interval(group[group.width == width].density.tolist()) for width in widths]
        slope = "–"
        if group.width.nunique() > 1 and (group.bits_stored > 0).all():
            slope = f"{stats.linregress(np.log(group.parameters), np.log(group.bits_stored)).slope:.2f}"
        rows.append((variant, *densities, slope))
    return table(header, rows, right=header[1:])


def control_table(plan: Plan) -> Markdown | None:
    """Return bits stored a parameter with and without what a control changes, all parameters and the inner ones."""
    controlled = frame(plan, "controls")
    if controlled.empty:
        return None
    loads = frame(plan, "loads")
    usual = loads[(loads.load == 1) & loads.variant.isin(controlled.variant)]
    data = pd.concat([usual, controlled])
    data = data.assign(inner=data.bits_stored / data.inner_parameters)
    names: dict[object, str] = {"": "as in the other parts", "token": "a name is one token", "no_mlp": "no MLPs"}
    rows = []
    for (variant, control), group in data.groupby(["variant", "control"], sort=False):
        figures = [with_interval(group[column].tolist()) for column in ("share", "density", "inner")]
        rows.append((variant, names[control], f"{group.parameters.iloc[0]:,}", *figures))
    header = ("variant", "control", "parameters", "share", "bits a parameter", "bits an inner parameter")
    return table(header, rows, right=header[2:])


def optimizer_table(data: pd.DataFrame) -> Markdown | None:
    """Return the share stored by optimizer and exposures at the best rate of each, and the exposures to NINETY."""
    if data.empty:
        return None
    exposures = sorted(data.exposures.unique())
    header = ("variant", "optimizer", *(f"{count} exposures (rate)" for count in exposures), "exposures to 90 %")
    rows = []
    for (variant, matrices), group in data.groupby(["variant", "matrices"], sort=False):
        means = group.groupby(["exposures", "learning_rate"]).share.mean()
        best = means.groupby(level="exposures").idxmax()
        shares = [means[key] for key in best]
        cells = [f"{share:.2f} ({key[1]:g})" for share, key in zip(shares, best, strict=True)]
        rows.append((variant, matrices, *cells, exposures_to(NINETY, [*best.index], shares)))
    return table(header, rows, right=header[2:])


def exposures_to(wanted: float, exposures: Sequence[int], shares: Sequence[float]) -> str:
    """Return where the share crosses `wanted`, by a straight line over the logarithm of the exposures."""
    if shares[0] >= wanted:
        return f"under {exposures[0]}"
    points = zip(exposures, shares, exposures[1:], shares[1:], strict=False)
    for few, low, many, high in points:
        if low < wanted <= high:
            part = (wanted - low) / (high - low)
            return f"{np.exp(log(few) + part * (log(many) - log(few))):.0f}"
    return f"over {exposures[-1]}"


def rate_table(plan: Plan) -> Markdown:
    """Return the share stored at each rate that was tried, by what it was chosen for; the chosen one is marked."""
    choices = [cell for cell in plan.rows if cell == as_choice(cell, cell.learning_rate)]
    rates = sorted({cell.learning_rate for cell in choices})

    def group_of(cell: object) -> tuple[object, ...]:
        return tuple(getattr(cell, name) for name in ("variant", "matrices", "exposures", "width", "control"))

    rows = []
    for group, cells in groupby(sorted(choices, key=group_of), key=group_of):
        tried = plan.tried(next(cells))
        best = max(tried, key=lambda rate: tried[rate].bits_stored)
        shares = {rate: f"{row.bits_stored / row.bits_asked:.2f}" for rate, row in tried.items()}
        shares[best] = f"{shares[best]} ←"
        rows.append((*group, *(shares.get(rate, "") for rate in rates)))
    header = ("variant", "optimizer", "exposures", "width", "control", *(f"{rate:g}" for rate in rates))
    return table(header, rows, right=header[5:])


def draw_loads(data: pd.DataFrame) -> Figure:
    """Draw bits stored against bits asked, both a parameter: a panel a mixer, the other mixers pale behind it."""
    variants = list(dict.fromkeys(data.variant))
    lines = len(variants) // -COLUMNS * -1
    figure = Figure(figsize=(WIDTH, 0.6 + 1.9 * lines), layout="constrained")
    panels = figure.subplots(lines, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    means = data.groupby(["variant", "load"]).density.mean()
    for axes, variant in zip(panels, variants, strict=False):
        for other in variants:
            axes.plot(means[other].index, means[other], color=PALE, linewidth=0.7)
        own = data[data.variant == variant]
        axes.plot(means[variant].index, means[variant], color=COLOURS[0], linewidth=1.6)
        axes.scatter(own.load, own.density, s=10, color=COLOURS[0], zorder=3)
        for bits in (1, 2):
            axes.axhline(bits, color=GREY, linestyle=":", linewidth=0.8)
        axes.set_xscale("log", base=2)
        loads = sorted(data.load.unique())
        axes.set_xticks(loads, [f"{value:g}" for value in loads])
        axes.set_title(variant)
    for axes in panels[len(variants) :]:
        axes.set_axis_off()
    figure.supxlabel("bits asked a parameter", fontsize=9)
    figure.supylabel("bits stored a parameter", fontsize=9)
    return figure


if __name__ == "__main__":
    main()
