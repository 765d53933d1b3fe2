"""Write the report of a recipe's selected variant, or of several, to reports/<recipe>/<selection>/.

Without options, only say where the selected report lies: `make study` ends so, whether DVC had work to do or not.
"""

from pathlib import Path
from typing import Any

from stages.reporting.folder import write_report
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json

ROW = "{:24}{:>10}{:>14}{:>10}{:>10}"
COLUMNS = ("scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high")  # in percent


@command
def main() -> None:
    """Read data/evaluations/<recipe>/ and write the report's folder; raises StudyError on missing input."""
    parser = Parser(description=__doc__)
    parser.add_argument("--recipe", help="a key of `recipes` in params.yaml")
    parser.add_argument("--selection", help="`compared`, `all` or a variant")
    parser.add_argument("--headline", action="store_true", help="write the figures to the project's root, too")
    given = parser.parse_args()
    if (given.recipe is None) != (given.selection is None):
        parser.error("--recipe and --selection go together")
    settings = load()
    if given.recipe is None:
        report = Path("reports") / settings.recipe / settings.model.variant
        if not (report / "index.html").exists():
            raise StudyError(f"{report} has no report; `dvc repro` makes it")
        print(f"report: {report / 'report.md'}, for a browser: {report / 'index.html'}")
        return

    recipe = settings.question_recipe(given.recipe)
    metrics = write_report(
        Path("data/evaluations") / given.recipe,
        Path("reports") / given.recipe / given.selection,
        given.recipe,
        given.selection,
        settings.selected(given.selection),
        recipe.report,
        settings.study.compared,
        recipe.any_spelling,
        settings.sources.own.folder if recipe.data.source == "own" else "",
    )
    if not given.headline:
        return
    write_json(Path("metrics.json"), metrics)
    write_json(Path("selected.json"), headline(metrics))
    print(ROW.format("dev accuracy, %", "scratch", "pretrained", "ci_low", "ci_high"))
    for variant, figures in sorted(metrics["variants"].items(), key=lambda row: -row[1]["dev_accuracy"]):
        print(ROW.format(variant, *(round(figures[column], 2) for column in COLUMNS)))


def headline(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the selected variant's figures, then every variant's dev accuracy.

    DVC prints a column a figure, so the names are short.
    """
    figures = metrics["selected"]
    shown = {
        "dev_accuracy": figures["dev_accuracy"],
        "ci_low": figures["dev_accuracy_ci_low"],
        "ci_high": figures["dev_accuracy_ci_high"],
        "baseline": metrics["baseline"]["dev_accuracy"],
        "reader": metrics["reader"]["dev_accuracy"],
        **{name: of_variant["dev_accuracy"] for name, of_variant in metrics["variants"].items()},
    }
    rounded = {name: round(percent, 2) for name, percent in shown.items()}
    return {"variant": figures["variant"], **rounded, "loss": figures["pretrain_loss"]}


if __name__ == "__main__":
    main()
