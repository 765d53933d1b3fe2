"""The page of the study of access: what is memorised, what is answered, and who decides it: reports/access/page/."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.html.index import write_page
from stages.reporting.statistics.significance import Difference, compare_trainings
from stages.reporting.style import styled
from stages.reporting.template import Part, fill
from stages.reporting.trials import figures, made, trial_files
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.trials.row import ACCESS, PRACTICES, Row, marks

PAGE = ACCESS.parent / "page"


@command
def main() -> None:
    """Write the page from the rows that are there."""
    Parser(description=main.__doc__).parse_args()
    variants = [*load().variants]
    rows = [row for row in map(Row.load, sorted(ACCESS.glob("*.json"))) if row.variant in variants]
    if not rows:
        raise StudyError(f"{ACCESS} has no rows; `dvc repro stages/access/dvc.yaml` makes them")
    order = variants.index
    rows.sort(key=lambda row: (row.recipe, PRACTICES.index(row.change), row.epochs, order(row.variant), row.seed))
    write_access(PAGE, rows)


@styled()
def write_access(target: Path, rows: Sequence[Row]) -> None:
    """Write report.md, index.html and what they show to the folder `target`."""
    recipes = dict.fromkeys(row.recipe for row in rows)
    parts = [recipe_part(recipe, [row for row in rows if row.recipe == recipe]) for recipe in recipes]
    files = {name: content for part in parts for name, content in part.files.items()}
    write_page(target, fill(__file__, "access.md.jinja", parts=[part.text for part in parts], made=made(rows)), files)


def recipe_part(recipe: str, rows: Sequence[Row]) -> Part:
    """Return the section on the rows of one recipe."""
    cells: dict[tuple[str, int], dict[str, list[Row]]] = {}  # of all seeds, by practice and epochs, then by variant
    for row in rows:
        cells.setdefault((row.change, row.epochs), {}).setdefault(row.variant, []).append(row)
    data = pd.DataFrame(
        figures(trainings, f"{variant}, {practice}, {epochs}" if len(cells) > 1 else variant)
        | {"variant": variant, "practice": practice}
        for (practice, epochs), variants in cells.items()
        for variant, trainings in variants.items()
    )
    doses = data[(data.practice == "any") & (data.variant == data.variant[0])]

    compared = {cell: differences(variants) for cell, variants in cells.items() if len(variants) > 1}

    files = trial_files(recipe, data, f"{recipe}_exposures", doses)
    text = fill(
        __file__,
        "access_recipe.md.jinja",
        recipe=recipe,
        rows=data.to_dict("records"),
        doses=f"{recipe}_exposures.svg" in files,
        compared=compared,
        is_tested=any(pair.is_tested for pairs in compared.values() for pair in pairs),
        questions=len(rows[0].correct),
    )
    return Part(text, files)


def differences(rows: dict[str, list[Row]]) -> list[Difference]:
    """Compare the other variants with the first; rows: by variant."""
    first, *others = rows
    correct = {variant: marks(trainings, "correct") for variant, trainings in rows.items()}
    return compare_trainings(correct, [(variant, first) for variant in others])


if __name__ == "__main__":
    main()
