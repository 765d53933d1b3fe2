"""The report of a selection of variants: a folder with the page and its files, written as a whole."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Baseline, read_baseline, read_evaluation
from stages.reporting.figures import draw_accuracy, draw_losses
from stages.reporting.html import write_page
from stages.reporting.markdown import PagePart, accuracy_rows, fill, run_origin, run_origins, thin
from stages.reporting.metrics import Result, study_metrics, summarise
from stages.reporting.sections.errors import errors_part
from stages.reporting.sections.extraction import extraction_part
from stages.reporting.sections.first_screen import comparisons_part, first_screen
from stages.reporting.sections.public_runs import public_part
from stages.reporting.style import styled, svg
from stages.settings import Report

PUBLIC = "handout"  # the recipe of public runs
SOURCE_LOSSES = Path(__file__).parents[2] / "docs" / "source_losses.tsv"  # of a vanilla model
# Committed reports that a report links to
OTHERS = ("quick/compared", "handout/compared", "unaided/compared", "open/all", "method")
COLUMNS = ["variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability"]


@styled()
def write_report(
    baselines: Path,
    evaluations: Path,
    target: Path,
    recipe: str,
    selection: str,
    variants: Sequence[str],
    settings: Report,
    leading: Sequence[str] = (),
    any_spelling: bool = False,
    own_folder: str = "",
) -> dict[str, Any]:
    """Write the report of `selection` to `target`, and return its metrics.json.

    baselines: the folder of the recipe's; evaluations: that of the selection, with a folder for each variant.

    leading: the variants that stand out in figures of many; any_spelling: how answers were scored; own_folder: where a
    user's own data lie. Without `settings.show_questions` no file has questions or gold places of the data, except as
    models' answers. Raises OSError where an input is missing, StudyError where parts do not belong together;
    `target` then stays as it was.
    """
    baseline = read_baseline(baselines)
    evaluated = [read_evaluation(evaluations / name, baselines) for name in sorted(variants)]
    by_name = [summarise(evaluation, baseline.dev_questions) for evaluation in evaluated]
    results = sorted(by_name, key=lambda result: (-result.pretrained.mean, result.variant))  # the best first
    metrics = study_metrics(recipe, selection, by_name, baseline)

    dots = pd.read_csv(SOURCE_LOSSES, sep="\t") if recipe == PUBLIC and "vanilla" in variants else None
    runs = [result.evaluation.run for result in results]
    parts = sections(results, baseline, recipe, variants[0])
    text = fill(
        __file__,
        "report.md.jinja",
        metrics=metrics,
        baseline=baseline,
        settings=settings,
        any_spelling=any_spelling,
        own_folder=own_folder,
        results=results,
        first_screen=first_screen(results, baseline, settings.show_questions),
        dots=dots is not None,
        parts=[part.text for part in parts],
        others=[(name.partition("/")[0], name) for name in OTHERS if name != f"{recipe}/{selection}"],
        most_seeds=max(len(result.pretrained.by_seed) for result in results),
        all_seeds=sorted({seed for run in runs for seed in run.pretrain_seconds}),
        alike=len({(made.commit, made.device, made.precision) for run in runs for made in run.provenance}) == 1,
        origin=run_origin,
        origins=run_origins(results),
    )
    curves = pd.concat([result.evaluation.curves for result in by_name], ignore_index=True)
    files = {
        "metrics.json": json.dumps(metrics, indent=2, ensure_ascii=False) + "\n",
        "accuracy.svg": svg(draw_accuracy(results, baseline)),
        "accuracy.csv": accuracy_rows(by_name).to_csv(index=False, lineterminator="\n"),
        "loss.svg": svg(draw_losses(curves, [result.variant for result in results], leading, dots)),
        "curves.csv": thin(curves).to_csv(index=False, lineterminator="\n"),
        "predictions.tsv": public_predictions(by_name, settings.show_questions),
    }
    for part in parts:
        files |= part.files
    write_page(target, text, files)
    return metrics


def sections(results: Sequence[Result], baseline: Baseline, recipe: str, reference: str) -> list[PagePart]:
    """Return the sections of the report that it has, in order; results: best first."""
    evaluations = [result.evaluation for result in results]
    public = public_part(results) if recipe == PUBLIC and not baseline.held_out else None
    parts = [
        comparisons_part(results, reference),
        public,
        extraction_part(evaluations),
        errors_part(results, baseline),
    ]
    return [part for part in parts if part]


def public_predictions(results: Sequence[Result], show_questions: bool) -> str:
    """Return predictions.tsv, with questions and gold places if they are to be shown."""
    table = pd.concat([result.evaluation.predictions for result in results], ignore_index=True)
    if not show_questions:
        table = table.assign(question="", gold="")
    return table[COLUMNS].to_csv(sep="\t", index=False, lineterminator="\n")
