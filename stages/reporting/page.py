"""The report page: figures, tables and examples set into the template beside this file."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result, best_variant
from stages.reporting.published import published
from stages.reporting.scratch import scratch_sentence
from stages.reporting.tables import provenance_table, results_table
from stages.reporting.template import Part, fill
from stages.settings import Report

TEMPLATE = "report.md.jinja"
EXAMPLES = 5  # of each kind, right and wrong


def render(
    metrics: dict[str, Any],
    opening: Markdown,
    results: Sequence[Result],
    baseline: Baseline,
    settings: Report,
    statistics: Sequence[Part],
    parts: Sequence[Part],
    beams: int,
) -> str:
    """Return report.md for `metrics` (metrics.json) of the variants in `results`.

    `opening` are the findings, in sentences; the sections `statistics` stand after the accuracies, `parts` after
    everything that comes from the evaluations. With `settings.show_questions` false the page names neither a question
    nor an answer of the dev set, only rows.
    """
    shown = best_variant(metrics["variants"])
    evaluations = [result.evaluation for result in results]
    predictions = next(e.predictions for e in evaluations if e.variant == shown)
    recipe, selection, seeds = metrics["recipe"], metrics["variant"], results[0].answers["pretrained"].seeds
    others = {each.variant: published(recipe, baseline.held_out, each.variant, "pretrained") for each in results}
    folder = shown if len(results) == 1 else "<variant>"
    return fill(
        TEMPLATE,
        metrics=metrics,
        command=making_command(recipe, selection, seeds, baseline.held_out),
        run=f"data/evaluations/{recipe}/{folder}/run.json",
        findings=opening,
        scratch=scratch_sentence(pd.concat([evaluation.curves for evaluation in evaluations])),
        results_table=results_table(metrics, others),
        provenance_table=provenance_table(evaluations, len(seeds)),
        baseline=baseline,
        shown=shown,
        seed=_first_seed(predictions),
        limit=EXAMPLES,
        settings=settings,
        beams=beams,
        right=examples(predictions, correct=True, show_questions=settings.show_questions),
        wrong=examples(predictions, correct=False, show_questions=settings.show_questions),
        seeds=len(seeds),
        any_published=any(others.values()),
        commits=len({evaluation.provenance.commit for evaluation in evaluations}),
        statistics=[part.text for part in statistics],
        parts=[part.text for part in parts],
    )


def making_command(recipe: str, selection: str, seeds: Sequence[int], held_out: int) -> str:
    """What a user types to make a report again: its selection, its seeds and, of a run to choose by, its questions."""
    knobs = [
        f"recipe={recipe}",
        f"model.variant={selection}",
        f"'recipes.{recipe}.seeds=[{','.join(map(str, seeds))}]'",
    ]
    if held_out:
        knobs.append(f"recipes.{recipe}.data.held_out={held_out}")
    return " ".join(["dvc exp run", *(f"-S {knob}" for knob in knobs)])


def examples(predictions: pd.DataFrame, correct: bool, show_questions: bool) -> Markdown:
    """Return a table of the first right or wrong dev answers of the first pretrained seed, in file order.

    The table is empty text where there is no such answer. Without `show_questions` right answers are left out, too:
    they are the gold places.
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
    shown: tuple[str, ...] = ("row", "question", "answer", "gold", "probability")
    if not show_questions:
        shown = ("row", "probability") if correct else ("row", "answer", "probability")
    cells = [
        {**record, "answer": record["predicted"] or Markdown("*nothing*"), "probability": p}
        for record, p in zip(records, chance, strict=True)
    ]
    return table(shown, [[each[name] for name in shown] for each in cells], right=("row", "probability"))


def _first_seed(predictions: pd.DataFrame) -> str:
    seeds: list[str] = predictions["seed"].unique().tolist()
    return min(seeds, key=int)
