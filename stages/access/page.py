"""The page of the study of access: what is stored, what is asked, and who decides it: reports/access/page/."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, StringConstraints

from stages.access.practise import PRACTICES, ROWS
from stages.reporting.ablation import draw_ablation, draw_exposures
from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, table
from stages.reporting.sections.comparisons import variants_table
from stages.reporting.statistics.intervals import Marks, accuracy_interval
from stages.reporting.statistics.significance import compare_trainings
from stages.reporting.style import styled, svg
from stages.reporting.tables import percent, short
from stages.reporting.template import Part, fill
from stages.settings import load
from stages.system.digests import as_written
from stages.system.errors import Parser, StudyError, command
from stages.system.records import Amount, Count

PAGE = ROWS.parent / "page"
SHARES = ("answered_of_memorised", "another_of_own_page", "as_reader", "as_drawn")
COMPARED = 2  # variants of one practice and length, or more, are compared with the first
Asked = Annotated[str, StringConstraints(pattern="^[01]+$")]  # a mark for each question


class Row(BaseModel):
    """What `practise` wrote of one training."""

    recipe: str
    variant: str
    practice: str
    times: Count
    seed: Count
    epochs: Count
    correct: Asked
    memorised: Annotated[str, StringConstraints(pattern="^[01-]+$")]  # `-`: the page does not tell the answer
    of_own_page: Asked
    as_reader: Asked
    as_drawn: Asked
    seconds: Amount
    provenance: dict[str, Any]

    @property
    def cell(self) -> tuple[str, str, int]:
        """What rows of several seeds have in common, within a recipe."""
        return self.variant, self.practice, self.epochs


@command
def main() -> None:
    """Write the page from the rows that are there."""
    Parser(description=main.__doc__).parse_args()
    rows = [read(path) for path in sorted(ROWS.glob("*.json"))]
    if not rows:
        raise StudyError(f"{ROWS} has no rows; `dvc repro stages/access/dvc.yaml` makes them")
    order = load().study.variants.index
    rows.sort(key=lambda row: (row.recipe, PRACTICES.index(row.practice), row.times, order(row.variant), row.seed))
    write_access(PAGE, rows)


def read(path: Path) -> Row:
    """A row. Raises StudyError: the file is damaged."""
    with as_written(path):
        return Row.model_validate(json.loads(path.read_text("utf-8")))


@styled()
def write_access(target: Path, rows: Sequence[Row]) -> None:
    """Write report.md, index.html and what they show to the folder `target`."""
    recipes = dict.fromkeys(row.recipe for row in rows)
    parts = [recipe_part(recipe, [row for row in rows if row.recipe == recipe]) for recipe in recipes]
    made = sorted({(short(row.provenance["commit"]), row.provenance["device"]) for row in rows})
    files = {name: content for part in parts for name, content in part.files.items()}
    write_page(target, fill("access.md.jinja", parts=[part.text for part in parts], made=made), files)


def recipe_part(recipe: str, rows: Sequence[Row]) -> Part:
    """The section on the rows of one recipe."""
    cells = {cell: [row for row in rows if row.cell == cell] for cell in dict.fromkeys(row.cell for row in rows)}
    found = pd.DataFrame([figures(of) for of in cells.values()])
    files = {f"{recipe}.csv": found.round(4).to_csv(index=False, lineterminator="\n")}
    files[f"{recipe}.svg"] = svg(draw_ablation(found))
    doses = found[(found.practice == "any") & (found.variant == found.variant[0])]
    if len(doses) > 2:
        files[f"{recipe}_exposures.svg"] = svg(draw_exposures(doses))
    together: dict[tuple[str, int], dict[str, Marks]] = {}
    for (variant, practice, epochs), of in cells.items():
        together.setdefault((practice, epochs), {})[variant] = marks(of, "correct")
    compared = {
        how: variants_table(compare_trainings(of, [(one, next(iter(of))) for one in [*of][1:]]))
        for how, of in together.items()
        if len(of) >= COMPARED
    }
    shown = {"recipe": recipe, "table": cells_table(found), "doses": len(doses) > 2, "compared": compared}
    return Part(fill("access_recipe.md.jinja", **shown, questions=len(rows[0].correct)), files)


def marks(rows: Sequence[Row], name: str) -> Marks:
    """(N, seeds) 1 or 0; of `memorised` those questions that the page answers."""
    columns = np.array([[*getattr(row, name)] for row in rows]).T
    return (columns[columns[:, 0] != "-"] == "1").astype(np.int64)


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """The row of the CSV of one variant, practice and length; fractions in 0…1."""
    first, correct = rows[0], marks(rows, "correct")
    low, high = accuracy_interval(correct)
    tells = np.array([*first.memorised]) != "-"
    stored = marks(rows, "memorised") == 1
    return {
        "change": f"{first.variant}, {first.practice}, {first.epochs}",
        **{name: getattr(first, name) for name in ("variant", "practice", "epochs")},
        "seeds": len(rows),
        "accuracy": float(correct.mean()),
        "ci_low": low,
        "ci_high": high,
        "memorised": float(stored.mean()),
        "answered_of_memorised": float(correct[tells][stored].mean()),  # NaN where none is memorised
        "another_of_own_page": float((marks(rows, "of_own_page") * (1 - correct)).mean()),
        "as_reader": float(marks(rows, "as_reader").mean()),
        "as_drawn": float(marks(rows, "as_drawn").mean()),
        "seconds": float(np.mean([row.seconds for row in rows])),
    }


def cells_table(found: pd.DataFrame) -> Markdown:
    """The rows of the CSV."""
    header = (
        "variant", "practice", "epochs", "seeds", "stored, %", "answered, % (95 % interval)", "answered of stored, %",
        "another phrase of the page, %", "what the reader says, %", "the phrase drawn, %", "seconds",
    )  # fmt: skip
    lines = []
    for each in found.to_dict("records"):
        answered, low, high = (percent(each[name]) for name in ("accuracy", "ci_low", "ci_high"))
        shares = (percent(each[name]) for name in SHARES)
        how = (each[name] for name in ("variant", "practice", "epochs", "seeds"))
        lines.append(
            (*how, percent(each["memorised"]), f"{answered} ({low} to {high})", *shares, f"{each['seconds']:,.0f}")
        )
    return table(header, lines, right=header[2:])


if __name__ == "__main__":
    main()
