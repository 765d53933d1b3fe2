"""The report page: figures, tables and examples set into the template beside this file."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Baseline
from stages.reporting.findings import findings
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result, best_variant
from stages.reporting.published import published
from stages.reporting.tables import provenance_table, results_table
from stages.reporting.template import Part, fill
from stages.settings import ALL, EVERY, Report

TEMPLATE = "report.md.jinja"
EXAMPLES = 5  # of each kind, right and wrong


def render(
    metrics: dict[str, Any],
    results: Sequence[Result],
    baseline: Baseline,
    settings: Report,
    statistics: Sequence[Part],
    parts: Sequence[Part],
    beams: int,
) -> str:
    """Return report.md for `metrics` (metrics.json) of the variants in `results`.

    The sections `statistics` stand after the accuracies, `parts` after everything that comes from the evaluations.
    With `settings.show_questions` false the page names neither a question nor an answer of the dev set, only rows.
    """
    shown = best_variant(metrics["variants"])
    evaluations = [result.evaluation for result in results]
    predictions = next(e.predictions for e in evaluations if e.variant == shown)
    return fill(
        TEMPLATE,
        metrics=metrics,
        stage=making_stage(metrics["recipe"], metrics["variant"]),
        findings=findings(metrics, baseline.dev_questions, baseline.place),
        results_table=results_table(metrics),
        provenance_table=provenance_table(evaluations),
        baseline=baseline,
        shown=shown,
        seed=_first_seed(predictions),
        limit=EXAMPLES,
        settings=settings,
        beams=beams,
        right=examples(predictions, correct=True, show_questions=settings.show_questions),
        wrong=examples(predictions, correct=False, show_questions=settings.show_questions),
        seeds=metrics["selected"]["seeds"],
        any_published=any(published(metrics["recipe"], result.variant, "pretrained") for result in results),
        statistics=[part.text for part in statistics],
        parts=[part.text for part in parts],
    )


def making_stage(recipe: str, selection: str) -> str:
    """The stage of stages/dvc.yaml that makes the report of a selection."""
    if selection in (ALL, EVERY):
        return f"summary_{selection}@{recipe}"
    return f"summary@{recipe}-{selection}"


def examples(predictions: pd.DataFrame, correct: bool, show_questions: bool) -> Markdown:
    """Return a table of the first right or wrong dev answers of the first pretrained seed, in file order.

    The table is empty text where there is no such answer. Without `show_questions` an answer is left out too:
    a right one is the gold place.
    """
    rows = predictions[
        (predictions["split"] == "dev")
        & (predictions["init"] == "pretrained")
        & (predictions["seed"] == _first_seed(predictions))
        & (predictions["correct"] == ("1" if correct else "0"))
    ]
    if rows.empty:
        return Markdown("")
    first = rows.assign(order=rows["row"].astype(int)).sort_values("order").head(EXAMPLES)
    records = first.to_dict("records")
    chance = [f"{float(record['probability']):.3f}" for record in records]
    if not show_questions:
        header = ("row", "probability")
        return table(header, [(r["row"], p) for r, p in zip(records, chance, strict=True)], right=header)
    cells = [
        (r["row"], r["question"], r["predicted"] or Markdown("*nothing*"), r["gold"], p)
        for r, p in zip(records, chance, strict=True)
    ]
    return table(("row", "question", "answer", "gold", "probability"), cells, right=("row", "probability"))


def _first_seed(predictions: pd.DataFrame) -> str:
    seeds: list[str] = predictions["seed"].unique().tolist()
    return min(seeds, key=int)
