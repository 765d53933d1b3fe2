"""reports/method: what is measured once for the whole project, in a page of its own."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.method.exploration.results import ALPHA, BETAS, DIMENSION, OFF, PAIRS, POSITIONS, Exploration, explore
from stages.method.sections import text
from stages.method.sections.attention import draw_errors, draw_lengths
from stages.method.sections.costs import draw_costs, forward_table, generation_table, made, read_costs
from stages.method.sections.reach import draw_reach, reach_table, read_reach
from stages.reporting.html.index import write_page
from stages.reporting.markdown import block
from stages.reporting.style import styled, svg
from stages.reporting.template import fill
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.system.records import read_record
from stages.system.terminal import harmless


@styled()
def write_method(target: Path, data: Path, exploration: Exploration, variants: Sequence[str], latents: int) -> None:
    """Write report.md, index.html, pictures and cost.csv to the folder `target`.

    data: with cost/ and influence/, a folder a variant in each, grid/ and passages/; latents: of the perceiver.
    Raises StudyError where something is missing or broken.
    """
    measured = [read_costs(data / "cost" / name) for name in variants]
    reaches = [read_reach(data / "influence" / name) for name in variants]
    grid = read_record(data / "grid/results/grid.json", text.GRID)
    passages = read_record(data / "passages/passages.json", text.PASSAGES)
    cells, ways = grid["cells"], passages["rows"]
    own = [found[0] for found in reaches]
    several = [found for found in reaches if len(found) > 1]
    shared = set.intersection(*(set(each.table.index) for each in measured))
    if not shared:
        raise StudyError("params.yaml: cost.lengths: none was measured of every variant; raise cost.longest_run")
    longest = max(shared)
    figures = {
        "cost": draw_costs(measured),
        "influence": draw_reach(own, [each.variant for each in own]),
        **{f"influence_{found[0].variant}": draw_reach(found, [each.settings for each in found]) for found in several},
        "grid": text.draw_grid(cells),
        "exploration_errors": draw_errors(exploration),
        "exploration_lengths": draw_lengths(exploration),
    }
    files = {f"{name}.svg": svg(figure) for name, figure in figures.items()}
    report = fill(
        __file__,
        "method.md.jinja",
        first=measured[0],
        counted={each.variant: each.table.multiply_adds[longest] / 1e6 for each in measured},
        length=longest,
        forward_table=forward_table(measured, longest),
        generation_table=generation_table(measured, longest),
        latents=latents,
        influence=own[0],
        reach_table=reach_table([each for found in reaches for each in found]),
        several=[found[0].variant for found in several],
        grid_table=text.grid_table(cells),
        best=text.best_of_each(cells),
        passages_table=text.passages_table(ways),
        ways=ways,
        block=lambda passage: block(map(harmless, passage.strip("\n").split("\n"))),
        pairs=PAIRS,
        dimension=DIMENSION,
        samples=len(exploration.one_head),
        alpha=ALPHA,
        beta=f"{BETAS[-1]:g}",
        off=OFF,
        positions=POSITIONS,
        numbers=exploration.numbers,
        made=sorted({*(each.made for each in measured), made(grid["provenance"]), made(passages["provenance"])}),
    )
    rows = pd.concat([each.table.assign(variant=each.variant).reset_index() for each in measured])
    files["cost.csv"] = rows.to_csv(index=False, lineterminator="\n")
    write_page(target, report, files)


@command
def main() -> None:
    """Read what was measured, compute the attention exploration, and write the report."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    latents = settings.variants.get("perceiver", {"bottleneck": 0})["bottleneck"]
    write_method(Path("reports/method"), Path("data"), explore(), settings.study.variants, latents)


if __name__ == "__main__":
    main()
