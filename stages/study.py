"""Put the selected report's figures where `dvc metrics` looks for them, and print them."""

import argparse
from pathlib import Path

from stages.errors import StudyError, command
from stages.files import read_json, write_bytes
from stages.reporting.tables import terminal_table


@command
def main() -> None:
    """Copy the report's metrics.json to the root; raises StudyError where it is missing."""
    parser = argparse.ArgumentParser(prog="python -m stages.study", description=__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--variant", required=True, help="`all` or a variant")
    given = parser.parse_args()
    report = Path("reports") / given.recipe / given.variant
    metrics = report / "metrics.json"
    if not metrics.is_file():
        raise StudyError(f"{metrics}: missing; make it with: dvc repro")
    table = terminal_table(read_json(metrics))
    write_bytes(Path("metrics.json"), metrics.read_bytes())
    print(f"{table}\n\nreport: {report / 'report.md'}, for a browser: {report / 'index.html'}")


if __name__ == "__main__":
    main()
