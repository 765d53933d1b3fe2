"""What a recipe owes to its parts: the page that compares it with itself, one change at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, code, table
from stages.reporting.statistics.significance import Difference, compare_trainings, shown_points
from stages.reporting.style import styled, svg
from stages.reporting.template import fill
from stages.reporting.trials import csv, draw_exposures, draw_trials, figures, made
from stages.settings import FULL, Ablation, load
from stages.settings.changes import leaves, written
from stages.system.errors import Parser, command
from stages.trials.row import ABLATIONS, Row, marks

LENGTH = "pretrain.epochs"  # the setting of a change that changes only how long is trained


@styled()
def write_ablation(target: Path, settings: Ablation, rows: Sequence[Row]) -> None:
    """Write report.md, index.html and what they show to the folder `target`; `rows` holds the change `full`."""
    full = next(row for row in rows if row.change == FULL)
    rows = [full, *(row for row in rows if row is not full)]
    changes = {row.change: leaves(settings.changes[row.change]) for row in rows[1:]}
    data = pd.DataFrame(figures([row], row.change) for row in rows)
    of_length = [name for name, change in changes.items() if {*change} == {LENGTH}]
    lengths = data[data.change.isin([FULL, *of_length])].sort_values("epochs")

    files = {"ablation.svg": svg(draw_trials(data)), "ablation.csv": csv(data)}
    if len(lengths) > 2:
        files["exposures.svg"] = svg(draw_exposures(lengths))
    pairs = [(row.change, FULL) for row in rows[1:]]
    differences = compare_trainings({row.change: marks([row], "correct") for row in rows}, pairs)
    text = fill(
        __file__,
        "ablation.md.jinja",
        recipe=settings.recipe,
        variant=settings.variant,
        table=changes_table(data, [None, *differences]),
        questions=len(full.correct),
        facts=len(full.memorised.replace("-", "")),
        seed=settings.seed,
        lengths_shown=len(lengths) > 2,
        changes={name: as_written(change) for name, change in changes.items()},
        made=made(rows),
    )
    write_page(target, text, files)


def changes_table(data: pd.DataFrame, differences: Sequence[Difference | None]) -> Markdown:
    """Return the rows of ablation.csv, each with its difference to the full recipe."""
    header = (
        "change", "answered, %", "less the full recipe, points (95 % interval)",
        "memorised, %", "extracted of memorised, %", "pretraining loss", "seconds of pretraining",
    )  # fmt: skip
    cells = []
    for row, difference in zip(data.to_dict("records"), differences, strict=True):
        # in two decimals: rounded further, percentages and points would not add up
        shares = [f"{100 * row[name]:.2f}" for name in ("accuracy", "memorised", "extracted_of_memorised")]
        answered, *known = (share.replace("nan", "–") for share in shares)
        points = shown_points(difference, 2) if difference else "–"
        training = (f"{row['pretrain_loss']:.3f}", f"{row['seconds']:,.0f}")
        cells.append((code(row["change"]), answered, points, *known, *training))
    return table(header, cells, right=header[1:])


def as_written(change: dict[str, Any]) -> list[str]:
    """Return settings as `key: value`, values as params.yaml writes them."""
    return [f"{key}: {written(value)}" for key, value in change.items()]


@command
def main() -> None:
    """Write the page from the rows of all changes."""
    Parser(description=main.__doc__).parse_args()
    ablation = load().ablation
    rows = [Row.load(ABLATIONS / ablation.recipe / f"{change}.json") for change in ablation.changes]
    write_ablation(Path("reports") / ablation.recipe / "ablation", ablation, rows)


if __name__ == "__main__":
    main()
