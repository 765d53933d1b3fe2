"""The report's folder: everything a reader gets, written as a whole."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.curves import thin
from stages.reporting.evaluations import read_baseline, read_evaluation
from stages.reporting.figures import accuracy_svg, loss_svg
from stages.reporting.findings import findings
from stages.reporting.html.index import Predictions, render_index
from stages.reporting.markdown import Markdown
from stages.reporting.metrics import ranked, study_metrics, summarise
from stages.reporting.page import render
from stages.reporting.sections.confidence import confidence_part
from stages.reporting.sections.differences import comparisons, differences_part, leads, level_with_best
from stages.reporting.sections.pretraining import changes, pretraining_part
from stages.reporting.tables import accuracy_rows
from stages.reporting.template import Part
from stages.settings import Report
from stages.system.files import new_folder, write_json, write_text


def write_report(
    evaluations: Path,
    target: Path,
    recipe: str,
    selection: str,
    variants: Sequence[str],
    settings: Report,
    parts: Sequence[Part] = (),
    beams: int = 1,
) -> None:
    """Write the report of `selection` from `evaluations` (a recipe's folder) to `target`.

    variants: those that the selection names; parts: sections beside the evaluations'; beams: lines of the search for
    an answer. Without `settings.show_questions` no file of the folder has the data's questions or gold places, other
    than as the models' own answers in predictions.tsv. Raises StudyError where an input is missing or broken; `target`
    is then left as it was.
    """
    baseline = read_baseline(evaluations)
    read = [read_evaluation(evaluations / name) for name in sorted(variants)]
    results = [summarise(evaluation, baseline.dev_questions) for evaluation in read]
    predictions = pd.concat([result.evaluation.predictions for result in results], ignore_index=True)
    curves = pd.concat([result.evaluation.curves for result in results], ignore_index=True)
    if not settings.show_questions:
        predictions = predictions.assign(question="", gold="")
    metrics = study_metrics(recipe, selection, results, baseline.dev_accuracy)
    best_first = ranked(results)
    names = [result.variant for result in results]
    place, seeds = baseline.place, max(len(result.pretrained.by_seed) for result in results)
    compared, changed = comparisons(best_first, place), changes(best_first)
    statistics = (
        differences_part(compared, place, seeds),
        pretraining_part(changed, settings.show_questions),
        confidence_part(best_first, names),
    )
    gains = {each.variant: each.found for each in changed}
    level = level_with_best(compared, place)
    opening = findings(metrics, baseline.dev_questions, place, gains, leads(compared, place), level)
    if len(results) == 1:
        opening = Markdown(" ".join([opening, *(part.headline for part in parts if part.headline)]))
    report = render(metrics, opening, results, baseline, settings, statistics, parts, beams)
    pictures = {
        "accuracy.svg": accuracy_svg(results, baseline, recipe),
        "loss.svg": loss_svg(curves, names),
    }
    beside = {name: content for part in (*statistics, *parts) for name, content in part.files.items()}
    order = [result.variant for result in best_first]
    index = render_index(report, pictures | beside, Predictions(predictions, order, settings.show_questions))
    with new_folder(target) as folder:
        write_text(folder / "report.md", report)
        write_text(folder / "index.html", index)
        write_json(folder / "metrics.json", metrics)
        write_text(folder / "predictions.tsv", _separated(predictions, "\t"))
        write_text(folder / "curves.csv", _separated(thin(curves), ","))
        write_text(folder / "accuracy.csv", _separated(accuracy_rows(results), ","))
        for name, content in (pictures | beside).items():
            write_text(folder / name, content)


def _separated(table: pd.DataFrame, separator: str) -> str:
    return table.to_csv(sep=separator, index=False, lineterminator="\n")
