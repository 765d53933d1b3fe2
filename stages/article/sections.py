"""What the article's sections show: figures of the committed reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.article.charts import Chart, Dot
from stages.reporting.trials import figures
from stages.system.files import read_json
from stages.trials.row import ACCESS, PRACTICES, Row

REPORTS = Path("reports")
HANDOUT, UNAIDED, OPEN, QUICK = "handout/compared", "unaided/compared", "open/all", "quick/compared"
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
CHOSEN = {"one": "one phrase, drawn once", "any": "all phrases alike", "reader": "the reader's phrase"}
NO_CLOZES, FULL = "the pages alone", f"{CHOSEN['reader']}, 60 epochs"


def charts(compared: Sequence[str]) -> dict[str, Chart]:
    """Return the figures by name; compared: the variants of those that do not show all."""
    found = {selection: metrics(selection) for selection in (HANDOUT, UNAIDED, OPEN, QUICK)}
    accuracies = [
        accuracy(f"{each['recipe']}, {init}", variant, each, variant, key)
        for each in found.values()
        for init, key in INITS.items()
        for variant in compared
    ]
    order = sorted(found[OPEN]["variants"], key=lambda name: -found[OPEN]["variants"][name]["dev_accuracy"])
    mixers = [
        accuracy(variant.replace("_", " "), each["recipe"], each, variant)
        for each in (found[OPEN], found[UNAIDED], found[HANDOUT])
        for variant in order
        if variant in each["variants"]
    ]
    shares = extraction(HANDOUT)
    words, shifts = (
        [Dot(row, variant, *shares[*how, variant]) for row, how in rows.items() for variant in compared]
        for rows in (WORDS, SHIFTS)
    )
    questions = "dev questions answered (%)"
    return {
        "scratch": Chart(accuracies, questions, found[HANDOUT]["baseline"]["dev_accuracy"]),
        "extraction": Chart(words, "facts (%)"),
        "position": Chart(shifts, "facts (%)"),
        "practice": Chart(practice(), "facts, or held-out questions (%)"),
        "mixers": Chart(mixers, questions),
    }


def metrics(selection: str) -> dict[str, Any]:
    """Return the figures of a report, `<recipe>/<selection>`."""
    found: dict[str, Any] = read_json(REPORTS / selection / "metrics.json")
    return found


def extraction(selection: str) -> dict[tuple[str, str, str], list[float]]:
    """By weights, measure and variant of a report: a share of the facts in percent, and the ends of its interval."""
    table = pd.read_csv(REPORTS / selection / "extraction.csv").to_dict("records")
    return {
        (each["weights"], each["measure"], each["variant"]): [100 * each[key] for key in ("share", "ci_low", "ci_high")]
        for each in table
    }


def accuracy(row: str, series: str, found: dict[str, Any], variant: str, key: str = "dev_accuracy") -> Dot:
    """Return a variant's accuracy in the figures of a report."""
    each = found["variants"][variant]
    return Dot(row, series, each[key], each.get(f"{key}_ci_low"), each.get(f"{key}_ci_high"))


def practice() -> list[Dot]:
    """Return what rope memorises and answers on the data of `open`, by who chooses the phrases: one training each."""
    ablation = pd.read_csv(REPORTS / "open" / "ablation" / "ablation.csv").set_index("change")
    cells: dict[str, Any] = {NO_CLOZES: ablation.loc["only_spans"], FULL: ablation.loc["full"]}
    rows = [Row.load(path) for path in sorted(ACCESS.glob("open-rope-*-1.json"))]
    for row in sorted(rows, key=lambda row: (PRACTICES.index(row.change), row.epochs)):
        cells[f"{CHOSEN[row.change]}, {row.epochs} epochs"] = pd.Series(figures([row], row.change))
    dots = []
    for label, each in cells.items():
        dots.append(Dot(label, "memorised", 100 * each.memorised))
        dots.append(Dot(label, "answered", *(100 * each[key] for key in ("accuracy", "ci_low", "ci_high"))))
    return dots
