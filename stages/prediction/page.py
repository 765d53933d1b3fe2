"""The page of the study of prediction, from its rows and those of capacity: reports/prediction/page/."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.capacity.plan import ROWS as CAPACITY_ROWS
from stages.capacity.plan import Plan
from stages.capacity.row import Row as CapacityRow
from stages.prediction.row import ROWS, Cell, Row, cells
from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import read_metrics
from stages.reporting.style import COLOURS, GREY, INK, SMALL, styled, svg
from stages.reporting.tables import short
from stages.reporting.template import fill
from stages.settings import load
from stages.settings.measured import Forecast
from stages.system.errors import Parser, StudyError, command
from stages.system.rows import read_rows

PAGE = ROWS.parent / "page"
HANDOUT = Path("reports/handout/compared")  # committed; its trainings read pages alone, too
RECURRENT = ("min_gru", "rnn", "wrnn", "perceiver")  # those that anybody would expect to answer few
DRAWS = 2000  # bootstrap samples
EXPECTED = (0.8, 0.6)  # least rank correlation of alignment and T1: over all mixers, and without RECURRENT
NAME_WIDTH, NAME_HEIGHT = 0.3, 0.045  # in ranges of the dots: names that stand closer would overlap
TARGETS = {"question_bits": "T1: bits of a question", "share": "T2: share stored at load 1"}
FORECASTS = {
    "alignment": "alignment of untrained weights",
    "class": "recurrent or perceiver, or not",
    "parameters": "number of parameters",
    "page_bits": "bits in page form, after pretraining",
}


@command
def main() -> None:
    """Write the page from reports/prediction/rows.csv and reports/capacity/rows.csv."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    trained = {Cell(**row.model_dump()): row for row in read_rows(ROWS, Row)}
    asked = cells(settings)
    rows = [trained[cell] for cell in asked if cell in trained]
    if not rows:
        raise StudyError(f"{ROWS} has no rows of today's settings; `dvc repro stages/prediction/dvc.yaml` makes them")
    plan = Plan(settings, read_rows(CAPACITY_ROWS, CapacityRow))
    stored: dict[str, list[float]] = {}
    for cell in [*plan.cells("loads"), *plan.cells("registered")]:
        if cell.load == 1:
            stored.setdefault(cell.variant, []).append(plan.rows[cell].bits_stored / plan.rows[cell].bits_asked)
    means = {variant: float(np.mean(shares)) for variant, shares in stored.items()}
    handout = read_metrics(HANDOUT)["variants"]
    write_prediction(PAGE, rows, means, settings.prediction.registered, handout, len(rows) == len(asked))


@styled()
def write_prediction(
    target: Path,
    rows: list[Row],
    stored: Mapping[str, float],
    registered: Mapping[str, Forecast],
    handout: Mapping[str, Mapping[str, float]],
    complete: bool,
) -> None:
    """Write report.md, index.html and the figure.

    stored: each mixer's share of the bits at load 1; handout: the figures of its variants, as in metrics.json;
    complete: whether all trainings are done.
    """
    data = by_mixer(rows, stored)
    known = data.loc[[variant for variant in data.index if variant not in registered]]
    groups = known, known[~known.index.isin(RECURRENT)]
    made = sorted({(short(row.commit), row.device) for row in rows})
    tables = {
        "mixers": mixer_table(data),
        "handout": handout_table(data, handout),
        "correlations": correlation_table(*groups),
        "registered": registered_table(data, registered),
        "expected": expectation_table(data, groups, registered),
    }
    text = fill(
        __file__,
        "prediction.md.jinja",
        tables=tables,
        made=made,
        cells=len(rows),
        complete=complete,
    )
    write_page(target, text, {"alignment.svg": svg(draw(data))})


def by_mixer(rows: list[Row], stored: Mapping[str, float]) -> pd.DataFrame:
    """Return the means over seeds and worlds, a row a mixer; class: -1 for RECURRENT, else 0; share: what is stored."""
    data = pd.DataFrame([row.model_dump() for row in rows])
    means = data.groupby("variant")[["alignment", "question_bits", "page_bits", "parameters", "seconds"]].mean()
    trainings = data.groupby("variant").size()
    names = means.index.to_series()
    return means.assign(trainings=trainings, share=names.map(stored), **{"class": -names.isin(RECURRENT).astype(float)})


def correlation(data: pd.DataFrame, forecast: str, target: str) -> str:
    """Return Spearman's rank correlation over the mixers, and its 95 % interval by bootstrap of the mixers."""
    pairs = data[[forecast, target]].dropna()
    if len(pairs) < 4 or pairs[forecast].nunique() < 2:
        return "–"

    columns = [pairs[name].to_numpy() for name in (forecast, target)]
    draws = np.random.default_rng(1).integers(len(pairs), size=(DRAWS, len(pairs)))
    low, high = np.quantile(spearman(*(column[draws] for column in columns)), [0.025, 0.975])
    return f"{spearman(*columns):.2f} ({low:.2f} to {high:.2f})"


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the rank correlation of (..., N) and (..., N) along the last axis; 0 where one of the two is constant."""
    x, y = (stats.rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2 for values in (x, y))
    norm = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.divide((x * y).sum(axis=-1), norm, out=np.zeros_like(norm), where=norm > 0)


def correlation_table(*groups: pd.DataFrame) -> Markdown:
    """Return the rank correlation of each forecast with each target, over each group of mixers."""
    header = ["forecast"]
    for title in TARGETS.values():
        header += [f"{title}, {len(group)} mixers" for group in groups]
    rows = []
    for forecast, title in FORECASTS.items():
        figures = [correlation(group, forecast, target) for target in TARGETS for group in groups]
        rows.append((title, *figures))
    return table(header, rows, right=header[1:])


def mixer_table(data: pd.DataFrame) -> Markdown:
    """Return all figures by mixer, the most aligned first."""
    header = ("variant", "alignment", "T1: bits of a question", "T2: share", "bits, page", "trainings", "seconds a run")
    rows = []
    for variant, row in data.sort_values("alignment", ascending=False).iterrows():
        share = "–" if np.isnan(row.share) else f"{row.share:.2f}"
        figures = (f"{row.alignment:.3f}", f"{row.question_bits:.1f}", share, f"{row.page_bits:.1f}")
        rows.append((variant, *figures, f"{row.trainings:.0f}", f"{row.seconds:.0f}"))
    return table(header, rows, right=header[1:])


def handout_table(data: pd.DataFrame, handout: Mapping[str, Mapping[str, float]]) -> Markdown:
    """Return the alignment of handout's variants beside what they answer on real pages, the most aligned first."""
    rows = []
    for variant, row in data[data.index.isin(handout)].sort_values("alignment", ascending=False).iterrows():
        low, mean, high = (handout[str(variant)][f"dev_accuracy{end}"] for end in ("_ci_low", "", "_ci_high"))
        rows.append(
            (variant, f"{row.alignment:.3f}", f"{row.question_bits:.1f}", f"{mean:.1f} ({low:.1f} to {high:.1f})")
        )
    header = ("variant", "alignment", "T1: bits of a question", "handout: dev accuracy, %")
    return table(header, rows, right=header[1:])


def registered_table(data: pd.DataFrame, registered: Mapping[str, Forecast]) -> Markdown:
    """Return the ranks forecast for mixers before their training, beside the nearest mixer's and their own."""
    rows = []
    for variant, forecast in registered.items():
        measured: list[str] = []
        for target in TARGETS:
            nearest, own = ranks_of(data, variant, forecast, target)
            known = not np.isnan([nearest, own]).any()
            measured += [f"{nearest:g}", f"{own:g}", closer(forecast.rank, nearest, own)] if known else ["–"] * 3
        rows.append((variant, forecast.rank, forecast.nearest, *measured))
    columns = [f"{title[:2]}: {what}" for title in TARGETS.values() for what in ("nearest's", "own", "closer")]
    header = ("mixer", "forecast by alignment", "nearest mixer", *columns)
    return table(header, rows, right=["forecast by alignment", *columns])


def ranks_of(data: pd.DataFrame, variant: str, forecast: Forecast, target: str) -> tuple[float, float]:
    """Return the ranks of the nearest mixer and of the mixer itself by a target; NaN: not measured."""
    ranks = data[target].rank(ascending=False)
    return ranks.get(forecast.nearest, np.nan), ranks.get(variant, np.nan)


def closer(forecast: float, nearest: float, own: float) -> str:
    """Return which of two forecasts is closer to the mixer's own rank."""
    by_alignment, naive = abs(forecast - own), abs(nearest - own)
    return "neither" if by_alignment == naive else "alignment" if by_alignment < naive else "nearest"


def expectation_table(
    data: pd.DataFrame, groups: Sequence[pd.DataFrame], registered: Mapping[str, Forecast]
) -> Markdown:
    """Return the expectations about T1 before any mixer was trained, beside the results; groups: as in EXPECTED."""
    rows = []
    for group, least in zip(groups, EXPECTED, strict=True):
        value = spearman(group.alignment.to_numpy(), group.question_bits.to_numpy())
        what = f"rank correlation of alignment and T1 over {len(group)} mixers: {least:g} or more"
        rows.append((what, f"{value:.2f}", "yes" if value >= least else "no"))

    won = 0
    for variant, forecast in registered.items():
        won += closer(forecast.rank, *ranks_of(data, variant, forecast, "question_bits")) == "alignment"
    what = "registered ranks for T1 closer than those of the nearest mixers"
    rows.append((what, f"{won} of {len(registered)}", "yes" if won == len(registered) else "no"))
    return table(("expected before", "came out", "holds"), rows, right=["came out"])


def draw(data: pd.DataFrame) -> Figure:
    """Draw the bits of a question against the alignment, a named dot a mixer."""
    figure = Figure(figsize=(SMALL, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.scatter(data.alignment, data.question_bits, s=28, color=COLOURS[0], zorder=3)
    width, height = NAME_WIDTH * np.ptp(data.alignment), NAME_HEIGHT * np.ptp(data.question_bits)
    placed: list[tuple[float, float]] = []
    for variant, row in data.sort_values("question_bits").iterrows():
        y = row.question_bits
        for x, other in placed:
            if abs(x - row.alignment) < width and y < other + height:
                y = other + height
        placed.append((row.alignment, y))
        at = row.alignment, row.question_bits
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0} if y > at[1] else None
        axes.annotate(str(variant), at, (at[0] + 0.08 * width, y), va="center", color=INK, arrowprops=line)
    axes.set_xlabel("cue alignment of untrained weights")
    axes.set_ylabel("bits of a question, after reading pages alone")
    axes.grid(zorder=0)
    return figure


if __name__ == "__main__":
    main()
