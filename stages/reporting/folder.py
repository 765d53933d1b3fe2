"""The report of the selected recipe and variants: a folder with the page and its files, written as a whole."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.reporting.accuracies import ALL_PAIRS, answers_table, differences_between, draw_accuracy, forms_table
from stages.reporting.curves import draw_losses, thin
from stages.reporting.evaluations import Baseline, Evaluation, read_evaluation
from stages.reporting.extraction import (
    draw_extraction,
    extraction_shares,
    forms_reached_table,
    measures_of,
    memorised_table,
)
from stages.reporting.html import write_page
from stages.reporting.markdown import fill, short
from stages.reporting.metrics import accuracy_rows, report_metrics
from stages.reporting.public_runs import draw_public, own_seeds, public_runs, public_table
from stages.reporting.style import styled, svg
from stages.reporting.wrong_answers import kinds_table, questions_table, risk_table
from stages.settings import Settings
from stages.system.files import read_json

TEMPLATE = Path(__file__).with_name("report.md.jinja")
PUBLIC = "handout"  # the recipe of public runs
SOURCE_LOSSES = Path(__file__).parents[2] / "docs" / "source_losses.tsv"  # of a vanilla model
# Committed reports that a report links to
OTHERS = ("quick/compared", "handout/compared", "unaided/compared", "open/all", "method")
COLUMNS = ["variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability"]


@styled()
def write_report(params: Settings, baselines: Path, evaluations: Path, target: Path) -> dict[str, Any]:
    """Write the report of the selected recipe and variants to `target`, and return its metrics.json.

    baselines: the folder of the recipe's; evaluations: that of the selection, with a folder for each variant. Without
    the recipe's `report.show_questions` no file has questions or gold places of the data, except as models' answers.
    Raises OSError where an input is missing, UserError where parts do not belong together; `target` then stays as it
    was.
    """
    name, selection = params.recipe, params.model.variant
    recipe, variants = params.question_recipe(name), params.selected(selection)
    baseline = Baseline(**read_json(baselines / "baseline.json"))
    by_name = [read_evaluation(evaluations / variant, baselines) for variant in sorted(variants)]
    best_first = sorted(by_name, key=lambda evaluation: -evaluation.pretrained.mean)
    metrics = report_metrics(name, selection, by_name, baseline)
    predictions = pd.concat([evaluation.predictions for evaluation in by_name], ignore_index=True)
    if not recipe.report.show_questions:
        predictions = predictions.assign(question="", gold="")
    curves = pd.concat([evaluation.curves for evaluation in by_name], ignore_index=True)
    dots = pd.read_csv(SOURCE_LOSSES, sep="\t") if name == PUBLIC and "vanilla" in variants else None
    losses = draw_losses(curves, [evaluation.variant for evaluation in best_first], params.model.compared, dots)
    files = {
        "metrics.json": json.dumps(metrics, indent=2, ensure_ascii=False) + "\n",
        "accuracy.svg": svg(draw_accuracy(best_first, baseline)),
        "accuracy.csv": accuracy_rows(metrics).to_csv(index=False, lineterminator="\n"),
        "loss.svg": svg(losses),
        "curves.csv": thin(curves).to_csv(index=False, lineterminator="\n"),
        "predictions.tsv": predictions[COLUMNS].to_csv(sep="\t", index=False, lineterminator="\n"),
    }
    facts = best_first[0].extraction.row.nunique()
    extraction: dict[str, Any] = {}
    if facts:
        shares = extraction_shares(best_first)
        files["extraction.svg"] = svg(draw_extraction(shares))
        files["extraction.csv"] = shares.round(6).to_csv(index=False, lineterminator="\n")
        extraction = {"forms": forms_reached_table(shares), "measures": measures_of(shares)}
        extraction["offset_facts"] = max(evaluation.prefix_offset.row.nunique() for evaluation in best_first)
    public: dict[str, Any] = {}
    if name == PUBLIC and not baseline.held_out:
        runs = public_runs()
        own = own_seeds(best_first, runs)
        files["public.svg"] = svg(draw_public(runs, own))
        public = {"table": public_table(runs, own), "runs": len(runs)}
    text = fill(
        TEMPLATE,
        metrics=metrics,
        baseline=baseline,
        recipe=recipe,
        evaluations=best_first,
        answers_table=answers_table(best_first, baseline),
        forms_table=forms_table(best_first) if recipe.report.show_questions else "",
        facts=facts,
        memorised_table=memorised_table(best_first),
        kinds_table=kinds_table(best_first),
        differences=differences_between(best_first, variants[0]),
        reference=variants[0] if len(variants) > ALL_PAIRS else "",
        public=public,
        extraction=extraction,
        questions_table=questions_table(best_first, baseline.place),
        risk_table=risk_table(best_first, baseline.place),
        dots=dots is not None,
        others=[(other.partition("/")[0], other) for other in OTHERS if other != f"{name}/{selection}"],
        seeds=sorted({seed for evaluation in by_name for seed in evaluation.run.pretrain_seconds}),
        most_seeds=max(len(evaluation.pretrained.by_seed) for evaluation in by_name),
        provenances=provenances(best_first),
        alike=len({(made.commit, made.device, made.precision) for one in by_name for made in one.run.provenance}) == 1,
        own_folder=params.sources.own.folder if recipe.data.source == "own" else "",
    )
    write_page(target, text, files)
    return metrics


def provenances(evaluations: Sequence[Evaluation]) -> dict[tuple[str, ...], list[str]]:
    """Return the variants by where their runs come from: commit, device, precision, kernels and libraries.

    What differs between the seeds of a variant is joined.
    """
    variants: dict[tuple[str, ...], list[str]] = {}
    for evaluation in evaluations:
        rows = []
        for made in evaluation.run.provenance:
            libraries = ", ".join(f"{name} {version}" for name, version in made.libraries.items())
            kernels = "torch's" if made.kernels == "torch" else "compiled"
            rows.append((short(made.commit), made.device, made.precision, kernels, libraries))
        origin = tuple(" + ".join(dict.fromkeys(column)) for column in zip(*rows, strict=True))
        variants.setdefault(origin, []).append(evaluation.variant)
    return variants
