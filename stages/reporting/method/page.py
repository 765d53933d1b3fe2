"""reports/method: what is measured once for the whole project, in a page of its own."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.exploration.figures import pictures
from stages.exploration.results import ALPHA, BETAS, DIMENSION, PAIRS, POSITIONS, Exploration
from stages.reporting.html.index import render_index
from stages.reporting.markdown import Markdown, table
from stages.reporting.method.costs import (
    complexity_table,
    cost_svg,
    costs_table,
    exponents_table,
    made_table,
    read_costs,
)
from stages.reporting.method.reach import reach_svg, reach_table, read_reach
from stages.reporting.template import fill, power
from stages.system.files import new_folder, write_text


def write_method(
    target: Path, costs: Path, influences: Path, exploration: Exploration, variants: Sequence[str]
) -> None:
    """Write report.md, index.html, pictures and cost.csv to the folder `target`.

    costs, influences: the folders of the stages, a folder a variant in each. Raises StudyError where something is
    missing or broken.
    """
    measured = [read_costs(costs / name) for name in variants]
    records, reaches = zip(*(read_reach(influences / name) for name in variants), strict=True)
    own = [found[0] for found in reaches]
    several = [found for found in reaches if len(found) > 1]
    common = set.intersection(*(set(each.table.index) for each in measured))
    files = {"cost.svg": cost_svg(measured), "influence.svg": reach_svg(own, [each.variant for each in own])}
    for found in several:
        files[f"influence_{found[0].variant}.svg"] = reach_svg(found, [each.setting for each in found])
    files |= pictures(exploration)
    text = fill(
        "method.md.jinja",
        first=measured[0],
        complexity_table=complexity_table(variants),
        length=max(common, default=None),
        costs_table=costs_table(measured, max(common)) if common else "",
        exponents_table=exponents_table(measured),
        left_out=[(each.variant, length, why) for each in measured for length, why in each.left_out.items()],
        influence=records[0],
        reach_table=reach_table([each for found in reaches for each in found]),
        several=[found[0].variant for found in several],
        pairs=PAIRS,
        dimension=DIMENSION,
        samples=len(exploration.one_head),
        alpha=power(ALPHA),
        beta=f"{BETAS[-1]:g}",
        positions=POSITIONS,
        errors_table=errors_table(exploration),
        heads_table=heads_table(exploration),
        numbers=exploration.numbers,
        made_table=made_table(measured),
    )
    rows = pd.concat([each.table.assign(variant=each.variant).reset_index() for each in measured])
    with new_folder(target) as folder:
        write_text(folder / "report.md", text)
        write_text(folder / "index.html", render_index(text, files))
        write_text(folder / "cost.csv", rows.to_csv(index=False, lineterminator="\n"))
        for name, content in files.items():
            write_text(folder / name, content)


def errors_table(exploration: Exploration) -> Markdown:
    """Return the errors at the largest β beside their formulas."""
    header = ("error", "computed", "largest distance from its formula")
    rows = [(e.name, power(e.found[-1]), power(abs(e.found - e.formula).max())) for e in exploration.errors]
    return table(header, rows, right=header[1:])


def heads_table(exploration: Exploration) -> Markdown:
    """Return mean and standard deviation of two values' shares, for one head and for two."""
    header = ("heads", "share of v_a", "share of v_b")
    rows = [
        (name, *(f"{each.mean():.2f} ± {each.std():.2f}" for each in shares.T))
        for name, shares in (("one", exploration.one_head), ("two", exploration.two_heads))
    ]
    return table(header, rows, right=header[1:])
