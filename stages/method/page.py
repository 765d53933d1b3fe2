"""reports/method: what is measured once for the whole project, in a page of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from stages.method import exploration
from stages.method.exploration import Exploration, draw_errors, draw_lengths, explore
from stages.method.sections import text
from stages.method.sections.costs import Measured, draw_costs, forward_table, generation_table, made, read_costs
from stages.method.sections.reach import Reach, draw_reach, reach_table, read_reach
from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, block
from stages.reporting.style import styled, svg
from stages.reporting.template import fill
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.system.records import read_record
from stages.system.terminal import harmless


@dataclass(frozen=True, eq=False)
class Results:
    """Results of the stages: those of each variant, and those on texts."""

    measured: list[Measured]
    reaches: list[list[Reach]]  # each variant's, its own settings first
    grid: dict[str, Any]
    passages: dict[str, Any]

    @property
    def several(self) -> dict[str, list[Reach]]:
        """The reaches of the variants that have more than one, by variant."""
        return {reaches[0].variant: reaches for reaches in self.reaches if len(reaches) > 1}

    @property
    def longest(self) -> int:
        """The longest length that was measured of every variant; raises StudyError where there is none."""
        shared = set.intersection(*(set(variant.table.index) for variant in self.measured))
        if not shared:
            raise StudyError("params.yaml: cost.lengths: none was measured of every variant; raise cost.longest_run")
        return max(shared)


@styled()
def write_method(
    target: Path, data: Path, explored: Exploration, variants: Sequence[str], latents: int, leading: Sequence[str] = ()
) -> None:
    """Write report.md, index.html, pictures and cost.csv to the folder `target`.

    data: with cost/ and influence/, a folder a variant in each, grid/ and passages/; latents: of the perceiver;
    leading: the variants that stand out in figures of many. Raises StudyError where something is missing or broken.
    """
    results = read_results(data, variants)
    files = {f"{name}.svg": svg(figure) for name, figure in figures(results, explored, leading).items()}
    costs = pd.concat([variant.table.assign(variant=variant.variant).reset_index() for variant in results.measured])
    files["cost.csv"] = costs.to_csv(index=False, lineterminator="\n")
    write_page(target, report(results, explored, latents), files)


def read_results(data: Path, variants: Sequence[str]) -> Results:
    """Read what the stages of the study left in `data`; raises StudyError where something is missing or broken."""
    return Results(
        [read_costs(data / "cost" / name) for name in variants],
        [read_reach(data / "influence" / name) for name in variants],
        read_record(data / "grid/results/grid.json", text.GRID),
        read_record(data / "passages/passages.json", text.PASSAGES),
    )


def figures(results: Results, explored: Exploration, leading: Sequence[str]) -> dict[str, Figure]:
    """Return the page's pictures by name."""
    own = [reaches[0] for reaches in results.reaches]
    drawn = {
        "cost": draw_costs(results.measured, leading),
        "influence": draw_reach(own, [reach.variant for reach in own]),
        "grid": text.draw_grid(results.grid["cells"]),
        "exploration_errors": draw_errors(explored),
        "exploration_lengths": draw_lengths(explored),
    }
    for variant, reaches in results.several.items():
        drawn[f"influence_{variant}"] = draw_reach(reaches, [reach.settings for reach in reaches])
    return drawn


def report(results: Results, explored: Exploration, latents: int) -> Markdown:
    """Return report.md; latents: of the perceiver."""
    measured = results.measured
    length = results.longest
    cells = results.grid["cells"]
    passages = results.passages["rows"]
    of_texts = (results.grid["provenance"], results.passages["provenance"])
    return fill(
        __file__,
        "method.md.jinja",
        first=measured[0],
        counted={variant.variant: variant.table.multiply_adds[length] / 1e6 for variant in measured},
        length=length,
        forward_table=forward_table(measured, length),
        generation_table=generation_table(measured, length),
        latents=latents,
        influence=results.reaches[0][0],
        reach_table=reach_table([reach for reaches in results.reaches for reach in reaches]),
        several=[*results.several],
        grid_table=text.grid_table(cells),
        best=text.best_of_each(cells),
        passages_table=text.passages_table(passages),
        ways=passages,
        block=lambda passage: block(map(harmless, passage.strip("\n").split("\n"))),
        exploration=exploration,
        samples=len(explored.one_head),
        numbers=explored.numbers,
        made=sorted({*(variant.made for variant in measured), *map(made, of_texts)}),
    )


@command
def main() -> None:
    """Read what was measured, compute the attention exploration, and write the report."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    latents = settings.variants.get("perceiver", {"bottleneck": 0})["bottleneck"]
    shown = (explore(), [*settings.variants], latents, settings.study.compared)
    write_method(Path("reports/method"), Path("data"), *shown)


if __name__ == "__main__":
    main()
