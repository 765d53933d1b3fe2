"""The report of a selection of variants: everything a reader gets, written as a whole."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.evaluations import BASELINE, read_baseline, read_evaluation
from stages.reporting.figures import draw_accuracy, draw_losses
from stages.reporting.html.index import answers_data, write_page
from stages.reporting.markdown import block
from stages.reporting.metrics import devices, study_metrics, summarise
from stages.reporting.sections.calibration import calibration_part
from stages.reporting.sections.comparisons import comparisons_part
from stages.reporting.sections.extraction import extraction_part
from stages.reporting.sections.failures import failures_part
from stages.reporting.sections.order import order_part
from stages.reporting.sections.public_runs import public_part
from stages.reporting.statistics.intervals import LEAST_SEEDS
from stages.reporting.style import styled, svg
from stages.reporting.tables import accuracy_rows, provenance_table, results_table, summary_table, thin
from stages.reporting.template import fill
from stages.settings import Report
from stages.settings.changes import other_setting
from stages.system.digests import as_written, verified

PUBLIC = "handout"  # the recipe that public runs have, too
# committed reports, for links
OTHERS = ("quick/compared", "handout/compared", "unaided/compared", "open/all", "access/page", "method")
TRAINED = ("model", "optimizer", "pretrain", "finetune")  # sections of a recipe


@styled()
def write_report(
    evaluations: Path,
    target: Path,
    recipe: str,
    selection: str,
    variants: Sequence[str],
    settings: Report,
    beams: int = 1,
    leading: Sequence[str] = (),
) -> None:
    """Write the report of `selection` from `evaluations` (a recipe's folder) to `target`.

    beams: hypotheses of the search for an answer; leading: the variants that stand out in figures of many. Without
    `settings.show_questions` no file has the data's questions or gold places, other than as the models' own answers.
    Raises StudyError where an input is missing or broken; `target` stays as it was.
    """
    baseline = read_baseline(evaluations)
    with as_written(path := evaluations / BASELINE / "examples.txt"):
        examples = verified(path).read_text("utf-8") if settings.show_questions else ""
    names = sorted(variants)
    results = [summarise(read_evaluation(evaluations / name), baseline.dev_questions) for name in names]
    best_first = sorted(results, key=lambda result: (-result.pretrained.mean, result.variant))
    metrics = study_metrics(recipe, selection, results, baseline)
    predictions = pd.concat([result.evaluation.predictions for result in results], ignore_index=True)
    predictions = predictions.drop(columns="reader")
    if not settings.show_questions:
        predictions = predictions.assign(question="", gold="")
    curves = pd.concat([result.evaluation.curves for result in results], ignore_index=True)
    seeds = [len(result.pretrained.by_seed) for result in results]
    compared = comparisons_part(best_first, baseline.place, variants[0])
    probed = [result.evaluation for result in best_first]
    provenances = [one for each in probed for one in each.run.provenance]
    stated = [one.settings.recipe for one in provenances]  # earlier code did not state finetuning's
    by_section = [[{"recipe": {key: each[key]}} for each in stated if key in each] for key in TRAINED]
    same_settings = not any(other_setting(each[0], one) for each in by_section for one in each[1:])
    order = order_part(best_first, baseline)
    public = public_part(best_first) if recipe == PUBLIC and not baseline.held_out else None
    sections = [public, extraction_part(probed), order, failures_part(probed), calibration_part(best_first, leading)]
    parts = [compared, *filter(None, sections)]
    text = fill(
        __file__,
        "report.md.jinja",
        metrics=metrics,
        baseline=baseline,
        settings=settings,
        beams=beams,
        seeds=min(seeds),
        most_seeds=max(seeds),
        examples=block(examples.splitlines()),
        least=LEAST_SEEDS,
        summary=summary_table(best_first[0], baseline),
        results_table=results_table(best_first, baseline),
        comparisons=compared.text,
        parts=[part.text for part in parts[1:]],
        provenance_table=provenance_table(probed),
        commits={one.commit for one in provenances},
        devices=devices(best_first),
        precisions={one.precision for one in provenances},
        all_seeds=sorted({seed for each in probed for seed in each.run.pretrain_seconds}),
        same_settings=same_settings,
        others=[(each.partition("/")[0], each) for each in OTHERS if each != f"{recipe}/{selection}"],
    )
    files = {
        "accuracy.svg": svg(draw_accuracy(best_first, baseline)),
        "loss.svg": svg(draw_losses(curves, [result.variant for result in best_first], leading)),
        "metrics.json": json.dumps(metrics, indent=2, ensure_ascii=False) + "\n",
        "predictions.tsv": predictions.to_csv(sep="\t", index=False, lineterminator="\n"),
        "curves.csv": thin(curves).to_csv(index=False, lineterminator="\n"),
        "accuracy.csv": accuracy_rows(results).to_csv(index=False, lineterminator="\n"),
    }
    for part in parts:
        files |= part.files
    ranking = [result.variant for result in best_first]
    write_page(target, text, files, answers_data(predictions, ranking, settings.show_questions))
