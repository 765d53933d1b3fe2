"""The page of the study of capacity, from the rows that are there: reports/capacity/page/."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.capacity.plan import ROWS, Plan, as_choice
from stages.capacity.row import Row
from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, table
from stages.reporting.statistics.intervals import CONFIDENCE, LEAST_SEEDS
from stages.reporting.style import COLOURS, GREY, PALE, WIDTH, styled, svg
from stages.reporting.tables import short
from stages.reporting.template import fill
from stages.settings import load as load_settings
from stages.system.errors import Parser, StudyError, command
from stages.system.rows import read_rows

PAGE = ROWS.parent / "page"
NINETY = 0.9  # of the bits asked: how many exposures that takes
PANELS = 4  # of the figure, in a row
CONTROLS = {"": "none", "token": "a name is one token", "no_mlp": "no MLPs"}
EXPECTED = {0.25: "at most 10", 1.0: "over 30"}  # points between mixers, by load: written down before any training
MEASURES = ["share", "bits a parameter", "bits an inner parameter"]


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
    parts = {part: frame(plan.rows[cell] for cell in plan.cells(part)) for part, _ in plan.section.parts}
    loads, controls = parts["loads"], parts["controls"]
    optimizers = at_best_rates(parts["optimizers"], plan.section.parts.optimizers.rates)
    if len(controls):
        controls = pd.concat([loads[(loads.load == 1) & loads.variant.isin(controls.variant)], controls])
    controls = controls.replace({"control": CONTROLS}).melt(["variant", "control"], MEASURES, "measure", "value")
    widths = parts["widths"] if parts["widths"].width.nunique() > 1 else frame([])  # one alone has no slope
    choices = frame(row for cell, row in plan.rows.items() if cell == as_choice(cell, cell.learning_rate))

    tables = {
        "loads": pivot(loads, ["variant"], "load", seconds=seconds),
        "apart": differences(loads),
        "doses": pivot(parts["doses"], ["variant"], "exposures", seconds=seconds),
        "widths": pivot(widths, ["variant"], "width", "bits a parameter", slope=slope),
        "controls": pivot(controls, ["variant", "control"], "measure", "value"),
        "optimizers": pivot(optimizers, ["variant", "matrices"], "exposures", to_90_percent=to_ninety, rates=rates_of),
        "rates": pivot(
            choices, ["variant", "matrices", "exposures", "width", "control"], "learning_rate", chosen=best_rate
        ),
    }
    files = {}
    if len(loads):
        files = {
            "loads.svg": svg(draw_loads(loads)),
            "loads.csv": shares_by_load(loads).round(4).to_csv(index=False, lineterminator="\n"),
        }
    made = sorted({(short(row.commit), row.device, row.precision) for row in plan.rows.values()})
    text = fill(__file__, "capacity.md.jinja", tables=tables, made=made, section=plan.section, cells=len(plan.rows))
    write_page(target, text, files)


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows with MEASURES: the share of the bits asked that is stored, and the bits stored a parameter."""
    data = pd.DataFrame([row.model_dump() for row in rows], columns=[*Row.model_fields])
    for measure, whole in zip(MEASURES, ("bits_asked", "parameters", "inner_parameters"), strict=True):
        data[measure] = data.bits_stored / data[whole]
    return data


def pivot(
    data: pd.DataFrame, rows: list[str], column: str, value: str = "share", **more: Callable[[pd.DataFrame], str]
) -> Markdown | None:
    """Return a table of means over seeds, by the columns `rows` and `column` of the data; None without data.

    Rows by variant alone begin with the most in the last column. more: further columns, by a function of a row's data.
    """
    if data.empty:
        return None
    names = list(dict.fromkeys(data[column].sort_values())) if column != "measure" else MEASURES
    lines = []
    for key, group in data.groupby(rows, sort=False):
        cells = [group[group[column] == name][value].tolist() for name in names]
        further = [describe(group) for describe in more.values()]
        lines.append((np.mean(cells[-1] or [0]), [*key, *map(with_interval, cells), *further]))
    if rows == ["variant"]:
        lines.sort(key=lambda line: -line[0])
    titles = names if column == "measure" else [f"{column} {name:g}" for name in names]
    header = [title.replace("_", " ") for title in (*rows, *titles, *more)]
    return table(header, [line for _, line in lines], right=header[len(rows) :])


def with_interval(values: Sequence[float]) -> str:
    """Return the mean of the seeds and, from three on, half of its 95 % interval."""
    if not values:
        return "–"
    half = half_interval(values)
    return f"{np.mean(values):.2f}" if np.isnan(half) else f"{np.mean(values):.2f} ± {half:.2f}"


def half_interval(values: Sequence[float]) -> float:
    """Return half of the 95 % interval of a mean of seeds (Student's t); NaN of fewer than LEAST_SEEDS."""
    if len(values) < LEAST_SEEDS:
        return float("nan")
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * stats.sem(values))


def shares_by_load(data: pd.DataFrame) -> pd.DataFrame:
    """Return variant, load, share, ci_low and ci_high, the mean of the seeds and its 95 % interval, and seeds."""
    rows = []
    for (variant, load), group in data.groupby(["variant", "load"], sort=False):
        mean, half = group.share.mean(), half_interval(group.share.tolist())
        low, high = mean - half, min(1.0, mean + half)
        rows.append((variant, load, mean, low, high, len(group)))
    return pd.DataFrame(rows, columns=["variant", "load", "share", "ci_low", "ci_high", "seeds"])


def differences(data: pd.DataFrame) -> Markdown | None:
    """Return how far the mixers lie apart at each load, in points, and what was expected."""
    if data.empty:
        return None
    means = data.groupby(["load", "variant"]).share.mean()
    rows = []
    for load in sorted(data.load.unique()):
        shares = means[load]
        points = 100 * (shares.max() - shares.min())
        expected = EXPECTED.get(load, "–")
        rows.append((f"{load:g}", len(shares), shares.idxmax(), shares.idxmin(), f"{points:.0f}", expected))
    header = ("load", "mixers", "most", "least", "points between", "expected")
    return table(header, rows, right=("load", "mixers", "points between"))


def seconds(rows: pd.DataFrame) -> str:
    """Return the mean seconds of a training."""
    return f"{rows.seconds.mean():.0f}"


def slope(rows: pd.DataFrame) -> str:
    """Return the slope of the logarithm of the bits stored against that of the parameters."""
    if rows.width.nunique() < 2 or (rows.bits_stored <= 0).any():
        return "–"
    return f"{stats.linregress(np.log(rows.parameters), np.log(rows.bits_stored)).slope:.2f}"


def best_rate(rows: pd.DataFrame) -> str:
    """Return the learning rate with the most bits stored."""
    return f"{rows.learning_rate.iloc[int(rows.bits_stored.argmax())]:g}"


def rates_of(rows: pd.DataFrame) -> str:
    """List the learning rate for each number of exposures."""
    return ", ".join(f"{rate:g}" for rate in rows.groupby("exposures").learning_rate.first())


def at_best_rates(data: pd.DataFrame, rates: Mapping[Any, list[float]] | None) -> pd.DataFrame:
    """Keep, for each variant, optimizer and number of exposures, the rows of the rate that stores most.

    rates: of each optimizer; where not all of them have a row, none is kept.
    """
    kept = [data.iloc[:0]]
    for (_, matrices, _), group in data.groupby(["variant", "matrices", "exposures"], sort=False):
        shares = group.groupby("learning_rate").share.mean()
        if rates is None or {*shares.index} == {*rates[matrices]}:
            kept.append(group[group.learning_rate == shares.idxmax()])
    return pd.concat(kept)


def to_ninety(rows: pd.DataFrame) -> str:
    """Return where the share crosses NINETY, by a straight line over the logarithm of the exposures."""
    shares = rows.groupby("exposures").share.mean()
    if shares.iloc[0] >= NINETY:
        return f"under {shares.index[0]}"
    if (shares < NINETY).all():
        return f"over {shares.index[-1]}"
    first = int((shares >= NINETY).to_numpy().argmax())
    two = shares.iloc[first - 1 : first + 1]
    return f"{np.exp(np.interp(NINETY, two, np.log(two.index))):.0f}"


def draw_loads(data: pd.DataFrame) -> Figure:
    """Draw bits stored against bits asked, both a parameter: a panel a mixer, the other mixers pale behind it."""
    means = data.groupby(["variant", "load"])["bits a parameter"].mean()
    variants = list(dict.fromkeys(data.variant))
    lines = -(-len(variants) // PANELS)
    figure = Figure(figsize=(WIDTH, 0.6 + 1.8 * lines), layout="constrained")
    panels = figure.subplots(lines, PANELS, sharex=True, sharey=True, squeeze=False).ravel()
    loads = sorted(data.load.unique())
    for axes, variant in zip(panels, variants, strict=False):
        for other in variants:
            axes.plot(means[other].index, means[other], color=PALE, linewidth=0.7)
        own = data[data.variant == variant]
        axes.plot(means[variant].index, means[variant], color=COLOURS[0], linewidth=1.6)
        axes.scatter(own.load, own["bits a parameter"], s=10, color=COLOURS[0], zorder=3)
        for bits in (1, 2):
            axes.axhline(bits, color=GREY, linestyle=":", linewidth=0.8)
        axes.set_xscale("log", base=2)
        axes.set_xticks(loads, [f"{load:g}" for load in loads])
        axes.set_title(variant)
    for axes in panels[len(variants) :]:
        axes.set_axis_off()
    figure.supxlabel("bits asked a parameter", fontsize=9)
    figure.supylabel("bits stored a parameter", fontsize=9)
    return figure


if __name__ == "__main__":
    main()
