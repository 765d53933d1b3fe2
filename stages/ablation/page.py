"""The page of the ablation, which compares a recipe with itself, one change at a time."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.html.index import write_page
from stages.reporting.statistics.significance import compare_trainings
from stages.reporting.style import styled
from stages.reporting.template import fill
from stages.reporting.trials import figures, made, trial_files
from stages.settings import FULL, Ablation, load
from stages.settings.changes import leaves, written
from stages.system.errors import Parser, command
from stages.trials.row import ABLATIONS, Row, marks

LENGTH = "pretrain.epochs"  # a change of this setting alone changes the length of training


@styled()
def write_ablation(target: Path, settings: Ablation, rows: Sequence[Row]) -> None:
    """Write report.md, index.html and what they show to the folder `target`; `rows` holds the change `full`."""
    full = next(row for row in rows if row.change == FULL)
    others = [row for row in rows if row is not full]
    changes = {row.change: leaves(settings.changes[row.change]) for row in others}
    data = pd.DataFrame(figures([row], row.change) for row in (full, *others))
    of_length = [name for name, change in changes.items() if {*change} == {LENGTH}]
    lengths = data[data.change.isin([FULL, *of_length])].sort_values("epochs")

    files = trial_files("ablation", data, "exposures", lengths)
    correct = {row.change: marks([row], "correct") for row in rows}
    differences = compare_trainings(correct, [(row.change, FULL) for row in others])
    text = fill(
        __file__,
        "ablation.md.jinja",
        recipe=settings.recipe,
        variant=settings.variant,
        rows=data.to_dict("records"),
        points={difference.first: difference.shown(2) for difference in differences},
        questions=len(full.correct),
        facts=len(full.memorised.replace("-", "")),
        seed=settings.seed,
        lengths_shown="exposures.svg" in files,
        changes=changes,
        written=written,
        made=made(rows),
    )
    write_page(target, text, files)


@command
def main() -> None:
    """Write the page from the rows of all changes."""
    Parser(description=main.__doc__).parse_args()
    ablation = load().ablation
    rows = [Row.load(ABLATIONS / ablation.recipe / f"{change}.json") for change in ablation.changes]
    write_ablation(Path("reports") / ablation.recipe / "ablation", ablation, rows)


if __name__ == "__main__":
    main()
