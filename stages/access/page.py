"""The page of the study of access: what is memorised, what is answered, and who decides it: reports/access/page/."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, table
from stages.reporting.sections.comparisons import variants_table
from stages.reporting.statistics.intervals import LEAST_SEEDS
from stages.reporting.statistics.significance import LEVEL, compare_trainings
from stages.reporting.style import styled, svg
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill
from stages.reporting.trials import draw_exposures, draw_trials, figures, made
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.trials.row import ACCESS, PRACTICES, Row, marks

PAGE = ACCESS.parent / "page"
SHARES = ("extracted_of_memorised", "another_of_own_page", "says_reader", "says_drawn")


@command
def main() -> None:
    """Write the page from the rows that are there."""
    Parser(description=main.__doc__).parse_args()
    rows = [Row.load(path) for path in sorted(ACCESS.glob("*.json"))]
    if not rows:
        raise StudyError(f"{ACCESS} has no rows; `dvc repro stages/access/dvc.yaml` makes them")
    order = load().study.variants.index
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
    cells: dict[tuple[str, int], dict[str, list[Row]]] = {}  # by practice and epochs, then by variant
    for row in rows:
        cells.setdefault((row.change, row.epochs), {}).setdefault(row.variant, []).append(row)
    found = pd.DataFrame(
        figures(trainings, f"{variant}, {practice}, {epochs}") | {"variant": variant, "practice": practice}
        for (practice, epochs), variants in cells.items()
        for variant, trainings in variants.items()
    )
    doses = found[(found.practice == "any") & (found.variant == found.variant[0])]
    compared = {
        cell: variants_table(
            compare_trainings(
                {variant: marks(trainings, "correct") for variant, trainings in variants.items()},
                [(variant, next(iter(variants))) for variant in [*variants][1:]],
            )
        )
        for cell, variants in cells.items()
        if len(variants) > 1
    }
    shown = {"table": cells_table(found), "doses": len(doses) > 2, "compared": compared}
    files = {f"{recipe}.csv": found.round(4).to_csv(index=False, lineterminator="\n")}
    files[f"{recipe}.svg"] = svg(draw_trials(found))
    if shown["doses"]:
        files[f"{recipe}_exposures.svg"] = svg(draw_exposures(doses))
    return Part(
        fill(
            __file__,
            "access_recipe.md.jinja",
            recipe=recipe,
            **shown,
            questions=len(rows[0].correct),
            level=LEVEL,
            least=LEAST_SEEDS,
        ),
        files,
    )


def cells_table(found: pd.DataFrame) -> Markdown:
    """Return the rows of the CSV."""
    header = (
        "variant", "practice", "epochs", "seeds", "memorised, %", "answered, % (95 % interval)",
        "answered of memorised, %", "another phrase of the page, %", "what the reader says, %",
        "the phrase drawn, %", "seconds",
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
