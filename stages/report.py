"""Stage `report`: the page of the selected recipe and variants, in reports/<recipe>/<selection>/.

`--where` only says where it lies: `make study` ends so, whether DVC had work to do or not.
"""

from pathlib import Path

from stages.reporting.folder import write_report
from stages.settings import load
from stages.system.errors import Parser, UserError, command
from stages.system.files import write_json, write_metrics

LINE = "{:24}{:>10}{:>14}{:>10}{:>10}"
COLUMNS = ("scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high")  # in percent


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
        print(LINE.format(variant, *(round(figures[column], 2) for column in COLUMNS)))


if __name__ == "__main__":
    main()
