"""What the article's sections show: figures of the committed reports."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from stages.article.charts import Chart, Dot
from stages.reporting.metrics import read_metrics
from stages.system.errors import StudyError
from stages.trials.study.measures import MEASURES
from stages.trials.study.page import interval
from stages.trials.study.row import Row, read_rows

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
LOAD = "sources.pairs.load"  # swept in study capacity_loads
EXPOSURES = "pretrain.epochs"  # swept in study capacity_exposures
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
        "mixers": Chart(by_load(read_rows("capacity_loads")), "stored, of what is asked (%)"),
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


def by_load(rows: Sequence[Row]) -> list[Dot]:
    """Return what variants store at each load, in percent, in the order of load 1; rows: of study capacity_loads."""
    stored = MEASURES["stored"]
    of_load: dict[tuple[float, str], list[Row]] = {}
    for row in rows:
        of_load.setdefault((row.values[LOAD], row.variant), []).append(row)
    means = {cell: fmean(map(stored.value, trainings)) for cell, trainings in of_load.items()}
    dots = []
    for load in SHOWN_LOADS:
        of_this = [(-means[1, variant], variant) for at, variant in of_load if at == load]
        for _, variant in sorted(of_this):
            ends = interval(of_load[load, variant], stored)
            dots.append(Dot(variant.replace("_", " "), f"{load:g}", means[load, variant], *ends))
    return dots


def stored_after(exposures: int) -> dict[str, float]:
    """Return the share in percent that each variant has stored of one bit a parameter after so many exposures."""
    stored = MEASURES["stored"]
    rows = [row for row in read_rows("capacity_exposures") if row.values[EXPOSURES] == exposures]
    variants = dict.fromkeys(row.variant for row in rows)
    return {name: fmean(stored.value(row) for row in rows if row.variant == name) for name in variants}


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
