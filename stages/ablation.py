"""Stage `ablation`: what each change of section `ablation` does, as a page: reports/<recipe>/ablation/."""

from pathlib import Path

from stages.reporting.ablation import write_ablation
from stages.settings import load
from stages.system.errors import Parser, command
from stages.trials.row import ABLATIONS, Row


@command
def main() -> None:
    """Write the page from the rows of all changes."""
    Parser(description=main.__doc__).parse_args()
    ablation = load().ablation
    rows = [Row.load(ABLATIONS / ablation.recipe / f"{change}.json") for change in ablation.changes]
    write_ablation(Path("reports") / ablation.recipe / "ablation", ablation, rows)


if __name__ == "__main__":
    main()
