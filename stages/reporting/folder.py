"""The report of a selection of variants: everything a reader gets, written as a whole."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.reporting.evaluations import BASELINE, OF_BASELINE, Baseline, read_baseline, read_evaluation
from stages.reporting.figures import draw_accuracy, draw_losses
from stages.reporting.html.index import write_page
from stages.reporting.markdown import block
from stages.reporting.metrics import Result, study_metrics, summarise
from stages.reporting.sections.calibration import calibration_part
from stages.reporting.sections.comparisons import comparisons_part
from stages.reporting.sections.extraction import extraction_part
from stages.reporting.sections.failures import failures_part
from stages.reporting.sections.public_runs import public_part
from stages.reporting.sections.wrong import wrong_part
from stages.reporting.style import styled, svg
from stages.reporting.tables import accuracy_rows, interval, provenance_table, thin
from stages.reporting.template import Part, fill
from stages.settings import Report
from stages.system.digests import verified

PUBLIC = "handout"  # the recipe that public runs have, too
SOURCE_LOSSES = Path(__file__).parents[2] / "docs" / "source_losses.tsv"  # of a vanilla model
# committed reports, for links
OTHERS = ("quick/compared", "handout/compared", "unaided/compared", "open/all", "access/page", "method")


@styled()
def write_report(
    evaluations: Path,
    target: Path,
    recipe: str,
    selection: str,
    variants: Sequence[str],
    settings: Report,
    leading: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the report of `selection` from `evaluations` (a recipe's folder) to `target`; return its metrics.json.

    leading: the variants that stand out in figures of many. Without `settings.show_questions` no file has the data's
    questions or gold places, other than as the models' own answers. Raises StudyError where an input is missing or
    broken; `target` then stays as it was.
    """
    baseline = read_baseline(evaluations)
    examples = verified(evaluations / BASELINE / "examples.txt").read_text("utf-8") if settings.show_questions else ""
    results = [summarise(read_evaluation(evaluations / name), baseline.dev_questions) for name in sorted(variants)]
    best_first = sorted(results, key=lambda result: (-result.pretrained.mean, result.variant))
    metrics = study_metrics(recipe, selection, results, baseline)

    dots = pd.read_csv(SOURCE_LOSSES, sep="\t") if recipe == PUBLIC and "vanilla" in variants else None
    compared = comparisons_part(best_first, variants[0])
    others = sections(best_first, baseline, recipe)
    text = fill(
        __file__,
        "report.md.jinja",
        metrics=metrics,
        baseline=baseline,
        settings=settings,
        examples=block(examples.splitlines()),
        results=best_first,
        interval=interval,
        dots=dots is not None,
        comparisons=compared.text,
        parts=[part.text for part in others],
        others=[(name.partition("/")[0], name) for name in OTHERS if name != f"{recipe}/{selection}"],
        **origin(best_first),
    )
    files = tables(results, settings.show_questions) | pictures(best_first, baseline, leading, dots)
    for part in (compared, *others):
        files |= part.files
    write_page(target, text, files | {"metrics.json": json.dumps(metrics, indent=2, ensure_ascii=False) + "\n"})
    return metrics


def sections(results: Sequence[Result], baseline: Baseline, recipe: str) -> list[Part]:
    """Return the sections after the learning curves; results: best first."""
    evaluations = [result.evaluation for result in results]
    public = public_part(results) if recipe == PUBLIC and not baseline.held_out else None
    extraction = extraction_part(evaluations)
    wrong = (failures_part(evaluations), wrong_part(results, baseline))
    return [*filter(None, (public, extraction)), *wrong, calibration_part(results)]


def origin(results: Sequence[Result]) -> dict[str, Any]:
    """Return what the page says of how its figures came about; results: best first."""
    runs = [result.evaluation.run for result in results]
    provenances = [provenance for run in runs for provenance in run.provenance]
    seeds = [len(result.pretrained.by_seed) for result in results]
    return {
        "seeds": min(seeds),
        "most_seeds": max(seeds),
        "all_seeds": sorted({seed for run in runs for seed in run.pretrain_seconds}),
        "provenance_table": provenance_table([result.evaluation for result in results]),
        "commits": {provenance.commit for provenance in provenances},
        "devices": {provenance.device for provenance in provenances},  # with their threads: their times do not compare
        "precisions": {provenance.precision for provenance in provenances},
    }


def tables(results: Sequence[Result], show_questions: bool) -> dict[str, str]:
    """Return predictions.tsv, curves.csv and accuracy.csv, by name."""
    predictions = pd.concat([result.evaluation.predictions for result in results], ignore_index=True)
    predictions = predictions.drop(columns=[*OF_BASELINE])
    if not show_questions:
        predictions = predictions.assign(question="", gold="")
    curves = pd.concat([result.evaluation.curves for result in results], ignore_index=True)
    return {
        "predictions.tsv": predictions.to_csv(sep="\t", index=False, lineterminator="\n"),
        "curves.csv": thin(curves).to_csv(index=False, lineterminator="\n"),
        "accuracy.csv": accuracy_rows(results).to_csv(index=False, lineterminator="\n"),
    }


def pictures(
    results: Sequence[Result], baseline: Baseline, leading: Sequence[str], dots: pd.DataFrame | None
) -> dict[str, str]:
    """Return the figures of accuracies and losses, by name; results: best first; dots: others' losses."""
    curves = pd.concat([result.evaluation.curves for result in results], ignore_index=True)
    variants = [result.variant for result in results]
    return {
        "accuracy.svg": svg(draw_accuracy(results, baseline)),
        "loss.svg": svg(draw_losses(curves, variants, leading, dots)),
    }
