"""Stage `report`: the page of the selected recipe and variants, in reports/<recipe>/<selection>/.

`--where` only says where it lies: `make study` ends so, whether DVC had work to do or not.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.corpus.tables import table_text
from stages.reporting import tables
from stages.reporting.evaluations import Baseline, Evaluation, read_evaluation, report_metrics
from stages.reporting.html import write_page
from stages.reporting.markdown import fill, short
from stages.reporting.plots import draw_accuracy, draw_extraction, draw_losses, draw_public, thin
from stages.reporting.style import styled, svg
from stages.settings.params import Settings, load
from stages.system.errors import Parser, UserError, command
from stages.system.files import read_json, write_json, write_metrics

TEMPLATE = Path(__file__).with_name("report.md.jinja")
PUBLIC = "handout"  # the recipe of public runs
SOURCE_LOSSES = Path(__file__).parents[1] / "docs" / "source_losses.tsv"  # of a vanilla model
# Committed reports that a report links to
OTHERS = ("quick/compared", "handout/compared", "unaided/compared", "open/all", "method")
PREDICTIONS = ["variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability"]
BARS = {"scratch": "scratch_dev_accuracy", "pretrained": "dev_accuracy"}  # of DVC's plot: the figure of each start
Part = tuple[dict[str, str], dict[str, Any]]  # files by name, values of the template by name
LINE = "{:24}{:>10}{:>14}{:>10}{:>10}"
PRINTED = ("scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high")  # in percent


@command
def main() -> None:
    """Write the report; raises UserError on missing input."""
    parser = Parser(description=__doc__)
    parser.add_argument("--where", action="store_true", help="only say where the report lies")
    given = parser.parse_args()
    params = load()
    name, selection = params.recipe, params.model.variant
    params.question_recipe(name)  # a text has no report
    report = Path("reports") / name / selection
    if given.where:
        if not (report / "index.html").exists():
            raise UserError(f"{report} has no report; `dvc repro` makes it")
        print(f"report: {report / 'report.md'}, for a browser: {report / 'index.html'}")
        return

    metrics = write_report(params, Path("data/baseline") / name, Path("data/evaluations") / name / selection, report)
    write_json(Path("metrics.json"), metrics)
    best = metrics["selected"]
    write_metrics("report", low=best["dev_accuracy_ci_low"], high=best["dev_accuracy_ci_high"])
    print(LINE.format("dev accuracy, %", "scratch", "pretrained", "ci_low", "ci_high"))
    for variant, figures in sorted(metrics["variants"].items(), key=lambda row: -row[1]["dev_accuracy"]):
        print(LINE.format(variant, *(round(figures[key], 2) for key in PRINTED)))


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
    bars = [
        (f"{variant}, {init}", variant, init, figures[key])
        for variant, figures in metrics["variants"].items()
        for init, key in BARS.items()
    ]
    predictions = pd.concat([evaluation.predictions for evaluation in by_name], ignore_index=True)
    if not recipe.report.show_questions:
        predictions = predictions.assign(question="", gold="")
    curves = pd.concat([evaluation.curves for evaluation in by_name], ignore_index=True)
    dots = pd.read_csv(SOURCE_LOSSES, sep="\t") if name == PUBLIC and "vanilla" in variants else None
    losses = draw_losses(curves, [evaluation.variant for evaluation in best_first], params.model.compared, dots)
    files = {
        "metrics.json": json.dumps(metrics, indent=2, ensure_ascii=False) + "\n",
        "accuracy.svg": svg(draw_accuracy(best_first, baseline)),
        "accuracy.csv": table_text(pd.DataFrame(bars, columns=["model", "variant", "init", "accuracy"])),
        "loss.svg": svg(losses),
        "curves.csv": table_text(thin(curves)),
        "predictions.tsv": table_text(predictions[PREDICTIONS], "\t"),
    }
    facts = best_first[0].extraction.row.nunique()
    extraction_files, extraction = extraction_part(best_first) if facts else ({}, {})
    public_files, public = public_part(best_first) if name == PUBLIC and not baseline.held_out else ({}, {})
    made = [pretraining for evaluation in by_name for pretraining in evaluation.pretrainings]
    text = fill(
        TEMPLATE,
        metrics=metrics,
        baseline=baseline,
        recipe=recipe,
        evaluations=best_first,
        answers_table=tables.answers_table(best_first, baseline),
        forms_table=tables.forms_table(best_first, baseline) if recipe.report.show_questions else "",
        facts=facts,
        memorised_table=tables.memorised_table(best_first),
        kinds_table=tables.kinds_table(best_first),
        differences=tables.differences_between(best_first, variants[0]),
        reference=variants[0] if len(variants) > tables.ALL_PAIRS else "",
        public=public,
        extraction=extraction,
        questions_table=tables.questions_table(best_first, baseline),
        risk_table=tables.risk_table(best_first, baseline.place),
        dots=dots is not None,
        others=[(other.partition("/")[0], other) for other in OTHERS if other != f"{name}/{selection}"],
        seeds=sorted(predictions.seed.unique().tolist()),
        most_seeds=max(figures["seeds"] for figures in metrics["variants"].values()),
        provenances=provenances(best_first),
        alike=len({(each["commit"], each["device"], each["precision"]) for each in made}) == 1,
        own_folder=params.sources.own.folder if recipe.data.source == "own" else "",
    )
    write_page(target, text, files | extraction_files | public_files)
    return metrics


def extraction_part(evaluations: Sequence[Evaluation]) -> Part:
    """Return the files on what is memorised and extracted, and what the template says of it."""
    shares = tables.extraction_shares(evaluations)
    files = {"extraction.svg": svg(draw_extraction(shares)), "extraction.csv": table_text(shares.round(6))}
    return files, {
        "forms": tables.forms_reached_table(shares),
        "measures": tables.measures_of(shares),
        "offset_facts": max(evaluation.prefix_offset.row.nunique() for evaluation in evaluations),
    }


def public_part(evaluations: Sequence[Evaluation]) -> Part:
    """Return the figure of the public runs, and what the template says of them."""
    runs = tables.public_runs()
    seeds = tables.seeds_among(runs, evaluations)
    return {"public.svg": svg(draw_public(runs, seeds))}, {"table": tables.public_table(runs, seeds), "runs": len(runs)}


def provenances(evaluations: Sequence[Evaluation]) -> dict[tuple[str, ...], list[str]]:
    """Return the variants by where their runs come from: commit, device, precision, kernels and libraries.

    What differs between the seeds of a variant is joined.
    """
    variants: dict[tuple[str, ...], list[str]] = {}
    for evaluation in evaluations:
        rows = []
        for made in evaluation.pretrainings:
            libraries = ", ".join(f"{name} {version}" for name, version in made["libraries"].items())
            kernels = "torch's" if made["kernels"] == "torch" else "compiled"
            rows.append((short(made["commit"]), made["device"], made["precision"], kernels, libraries))
        origin = tuple(" + ".join(dict.fromkeys(column)) for column in zip(*rows, strict=True))
        variants.setdefault(origin, []).append(evaluation.variant)
    return variants


if __name__ == "__main__":
    main()
