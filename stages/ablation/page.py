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
from stages.reporting.trials import draw_exposures, draw_trials, figures, made
from stages.settings import FULL, Ablation, load
from stages.settings.changes import leaves, written
from stages.system.errors import Parser, command
from stages.trials.row import ABLATIONS, Row, marks

LENGTH = {"pretrain.epochs:"}  # of a change that changes only how long is trained


@styled()
def write_ablation(target: Path, settings: Ablation, found: Sequence[Row]) -> None:
    """Write report.md, index.html and what they show to the folder `target`; `found` holds the change `full`."""
    full = next(each for each in found if each.change == FULL)
    others = [each for each in found if each is not full]
    found = [full, *others]
    pairs = [(each.change, FULL) for each in others]
    differences = compare_trainings({each.change: marks([each], "correct") for each in found}, pairs)
    rows = [figures([each], each.change) for each in found]
    data = pd.DataFrame(rows)
    changes = {each.change: flat(settings.changes[each.change]) for each in others}
    longer = [
        FULL,
        *(name for name, pairs in changes.items() if {pair.partition(" ")[0] for pair in pairs} == LENGTH),
    ]
    lengths = data[data.change.isin(longer)].sort_values("epochs")
    lengths_shown = len(lengths) > 2
    text = fill(
        __file__,
        "ablation.md.jinja",
        recipe=settings.recipe,
        variant=settings.variant,
        table=changes_table(rows, [None, *differences]),
        questions=len(full.correct),
        facts=len(full.memorised.replace("-", "")),
        seed=settings.seed,
        lengths_shown=lengths_shown,
        changes=changes,
        made=made(found),
    )
    csv = data.round(4).to_csv(index=False, lineterminator="\n")
    files = {"ablation.svg": svg(draw_trials(data)), "ablation.csv": csv}
    if lengths_shown:
        files["exposures.svg"] = svg(draw_exposures(lengths))
    write_page(target, text, files)


def changes_table(rows: Sequence[dict[str, Any]], differences: Sequence[Difference | None]) -> Markdown:
    """Return the rows of ablation.csv, each with its difference to the full recipe."""
    header = (
        "change", "answered, %", "less the full recipe, points (95 % interval)",
        "memorised, %", "extracted of memorised, %", "pretraining loss", "seconds of pretraining",
    )  # fmt: skip
    cells = []
    for row, found in zip(rows, differences, strict=True):
        # in two decimals: rounded further, percentages and points would not add up
        shares = [f"{100 * row[name]:.2f}" for name in ("accuracy", "memorised", "extracted_of_memorised")]
        percent = [each.replace("nan", "–") for each in shares]
        line = [code(row["change"]), percent[0], shown_points(found, 2) if found else "–", *percent[1:]]
        cells.append([*line, f"{row['pretrain_loss']:.3f}", f"{row['seconds']:,.0f}"])
    return table(header, cells, right=header[1:])


def flat(changes: dict[str, Any]) -> list[str]:
    """Nested settings as `key: value`, keys with dots, values as params.yaml writes them."""
    return [f"{key}: {written(value)}" for key, value in leaves(changes).items()]


@command
def main() -> None:
    """Write the page from the rows of all changes."""
    Parser(description=main.__doc__).parse_args()
    ablation = load().ablation
    rows = [Row.load(ABLATIONS / ablation.recipe / f"{change}.json") for change in ablation.changes]
    write_ablation(Path("reports") / ablation.recipe / "ablation", ablation, rows)


if __name__ == "__main__":
    main()
