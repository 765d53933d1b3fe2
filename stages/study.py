"""Put the selected report's figures at the project's root, where people and `dvc metrics` look for them.

Without options, only say where the selected report lies: `make study` ends so, whether DVC had work to do or not.
"""

from pathlib import Path

from stages.reporting.headline import headline
from stages.settings import load
from stages.system.digests import as_written
from stages.system.errors import Parser, StudyError, command
from stages.system.files import read_json, write_bytes, write_json

ROW = "{:24}{:>10}{:>14}{:>10}{:>10}"
SHOWN = ("scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high")  # in percent


@command
def main() -> None:
    """Write metrics.json, the report's, and selected.json, for DVC's tables; StudyError without a sound report."""
    parser = Parser(description=__doc__)
    parser.add_argument("--recipe", help="a key of `recipes` in params.yaml")
    parser.add_argument("--variant", help="`compared`, `all` or a variant")
    given = parser.parse_args()
    if (given.recipe is None) != (given.variant is None):
        parser.error("--recipe and --variant go together")
    if given.recipe is None:
        settings = load()
        report = Path("reports") / settings.recipe / settings.model.variant
        print(f"report: {report / 'report.md'}, for a browser: {report / 'index.html'}")
        return
    path = Path("reports") / given.recipe / given.variant / "metrics.json"
    if not path.is_file():
        raise StudyError(f"{path} is missing; `dvc repro` makes it")
    with as_written(path):
        metrics = read_json(path)
        selected = headline(metrics)
        rows = [(name, *(figures[key] for key in SHOWN)) for name, figures in metrics["variants"].items()]
    write_bytes(Path("metrics.json"), path.read_bytes())
    write_json(Path("selected.json"), selected)
    print(ROW.format("dev accuracy, %", "scratch", "pretrained", "ci_low", "ci_high"))
    for row in sorted(rows, key=lambda row: -row[2]):
        print(ROW.format(*row))


if __name__ == "__main__":
    main()
