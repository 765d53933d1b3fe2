"""What the article's sections show: figures of the committed reports."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from stages.article.charts import Chart, Dot
from stages.reporting.metrics import read_metrics
from stages.system.errors import StudyError
from stages.trials.measures import MEASURES
from stages.trials.page import interval
from stages.trials.row import Row, read_rows

REPORTS = Path("reports")
HANDOUT = "handout/compared"
UNAIDED = "unaided/compared"
OPEN = "open/all"
QUICK = "quick/compared"
# variants in the page's text
SPOKEN_OF = {HANDOUT: {"rope"}, UNAIDED: {"rope", "synthesizer"}, OPEN: {"rope"}, QUICK: {"rope"}}
INITS = {"from scratch": "scratch_dev_accuracy", "pretrained": "dev_accuracy"}
WORDS = {
    "page's words, pretrained": ("pretrained", "continuation"),
    "page's words, finetuned": ("finetuned", "continuation"),
    "question, finetuned": ("finetuned", "extracted"),
}
SHIFTS = {
    f"{shift} before, {weights}": (weights, f"offset_{shift}")
    for weights in ("pretrained", "finetuned")
    for shift in (0, 1, 10)
}
CHOSEN = {  # by change of study `access_open`
    "one_phrase": "one phrase, drawn once",
    "any_phrase": "all capitalised phrases",
    "reader": "the reader's phrase",
}
CAPACITY = REPORTS / "capacity" / "rows.csv"
LOADS = REPORTS / "capacity" / "page" / "loads.csv"
SHOWN_LOADS = (0.25, 1, 2)  # bits asked a parameter
NO_CLOZES = "the pages alone"
FULL = f"{CHOSEN['reader']}, 60 epochs"


def charts(compared: Sequence[str]) -> dict[str, Chart]:
    """Return the figures by name; compared: the variants of those that do not show all, where all reports have them.

    Raises StudyError: a report lacks a variant of which the text speaks.
    """
    reports = {selection: metrics(selection) for selection in (HANDOUT, UNAIDED, OPEN, QUICK)}
    for selection, names in SPOKEN_OF.items():
        if lacking := sorted(names - reports[selection]["variants"].keys()):
            what = f"there is no {', '.join(lacking)}, of which the article's text speaks"
            raise StudyError(f"{REPORTS / selection}: {what}; make the report with it in study.compared")
    compared = in_all(reports.values(), list(dict.fromkeys([*compared, "rope"])))  # of which the text speaks
    shares = extraction(HANDOUT)
    questions = "dev questions answered (%)"
    return {
        "scratch": Chart(by_init(reports.values(), compared), questions, reports[HANDOUT]["baseline"]["dev_accuracy"]),
        "extraction": Chart(facts(shares, WORDS, compared), "facts (%)"),
        "position": Chart(facts(shares, SHIFTS, compared), "facts (%)"),
        "practice": Chart(practice(), "facts, or held-out questions (%)"),
        "mixers": Chart(by_load(pd.read_csv(LOADS)), "stored, of what is asked (%)"),
    }


def in_all(reports: Iterable[Mapping[str, Any]], variants: Sequence[str]) -> list[str]:
    """Return those of the variants that each report has; reports: as in metrics.json."""
    return [name for name in variants if all(name in report["variants"] for report in reports)]


def metrics(selection: str) -> dict[str, Any]:
    """Return the figures of a report, `<recipe>/<selection>`."""
    return read_metrics(REPORTS / selection)


def extraction(selection: str) -> pd.DataFrame:
    """Return a report's shares of the facts in percent, with their intervals, by weights, measure and variant."""
    table = pd.read_csv(REPORTS / selection / "extraction.csv").set_index(["weights", "measure", "variant"])
    return 100 * table[["share", "ci_low", "ci_high"]]


def by_init(reports: Iterable[dict[str, Any]], variants: Sequence[str]) -> list[Dot]:
    """Return the accuracies of variants, a row for each report and start of finetuning."""
    dots = []
    for report, (init, key), name in product(reports, INITS.items(), variants):
        figures = report["variants"][name]
        ends = figures.get(f"{key}_ci_low"), figures.get(f"{key}_ci_high")
        dots.append(Dot(f"{report['recipe']}, {init}", name, figures[key], *ends))
    return dots


def by_load(shares: pd.DataFrame) -> list[Dot]:
    """Return what the variants that have all loads store at each, in percent, in the order of load 1.

    shares: loads.csv of the study of capacity.
    """
    loads = shares.dropna()[shares.load.isin(SHOWN_LOADS)]  # of three seeds or more
    loads = loads[loads.groupby("variant").load.transform("count") == len(SHOWN_LOADS)]
    order = loads[loads.load == 1].set_index("variant").share
    dots = []
    for cell in loads.assign(order=-loads.variant.map(order)).sort_values(["load", "order"]).to_dict("records"):
        percents = [100 * cell[key] for key in ("share", "ci_low", "ci_high")]
        dots.append(Dot(cell["variant"].replace("_", " "), f"{cell['load']:g}", *percents))
    return dots


def stored_after(exposures: int) -> pd.Series:
    """Return the share in percent that each variant of the smallest models has stored of one bit a parameter."""
    rows = pd.read_csv(CAPACITY)
    rows = rows[(rows.width == rows.width.min()) & (rows.load == 1) & (rows.exposures == exposures) & (rows.seed > 0)]
    return (100 * rows.bits_stored / rows.bits_asked).groupby(rows.variant).mean()


def facts(shares: pd.DataFrame, rows: Mapping[str, tuple[str, str]], variants: Sequence[str]) -> list[Dot]:
    """Return shares of the facts; rows: weights and measure of each row."""
    return [Dot(row, variant, *shares.loc[(*rows[row], variant), :]) for row, variant in product(rows, variants)]


def practice() -> list[Dot]:
    """Return what rope memorises and answers on the data of `open`, by who chooses the phrases: one training each."""
    (spans,) = (row for row in read_rows("ablation") if row.change == "only_spans")
    cells: dict[str, Row] = {NO_CLOZES: spans}
    order = [*CHOSEN]
    for row in sorted(read_rows("access_open"), key=lambda row: (order.index(row.change), row.epochs)):
        cells[f"{CHOSEN[row.change]}, {row.epochs} epochs"] = row

    answered, dots = MEASURES["answered"], []
    for label, row in cells.items():
        dots.append(Dot(label, "memorised", MEASURES["memorised"].value(row)))
        dots.append(Dot(label, "answered", answered.value(row), *interval([row], answered)))
    return dots
