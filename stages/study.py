"""Put the selected report's figures at the project's root, where people and `dvc metrics` look for them."""

import argparse
from pathlib import Path

import pandas as pd

from stages.reporting.evaluations import broken, read_record
from stages.reporting.metrics import headline
from stages.system.errors import command
from stages.system.files import write_bytes, write_json

SHOWN = ["scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high"]  # in percent


@command
def main() -> None:
    """Write metrics.json, the report's, and selected.json, for DVC's tables; StudyError without a sound report."""
    parser = argparse.ArgumentParser(prog="python -m stages.study", description=__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--variant", required=True, help="`compared`, `all` or a variant")
    given = parser.parse_args()
    report = Path("reports") / given.recipe / given.variant
    path = report / "metrics.json"
    metrics = read_record(path)
    try:
        selected = headline(metrics)
        variants = pd.DataFrame.from_dict(metrics["variants"], orient="index", columns=SHOWN)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None
    write_bytes(Path("metrics.json"), path.read_bytes())
    write_json(Path("selected.json"), selected)
    print(variants.sort_values(SHOWN[1], ascending=False).to_string())
    print(f"\nreport: {report / 'report.md'}, for a browser: {report / 'index.html'}")


if __name__ == "__main__":
    main()
