"""The page of what is measured once for the whole project: reports/method/."""

from collections.abc import Sequence
from pathlib import Path

from stages.method.exploration import Exploration, exploration_part, explore
from stages.method.sections.costs import costs_part, made, read_costs
from stages.method.sections.demonstrations import DEMONSTRATIONS, EXPOSURE, demonstrations_part
from stages.method.sections.reach import reach_part, read_reach
from stages.method.sections.text import GRID, PASSAGES, text_part
from stages.reporting.html.index import write_page
from stages.reporting.style import styled
from stages.reporting.template import fill
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.records import read_record


@styled()
def write_method(
    target: Path, data: Path, explored: Exploration, variants: Sequence[str], latents: int, leading: Sequence[str] = ()
) -> None:
    """Write report.md, index.html, pictures and cost.csv to the folder `target`.

    data: with cost/ and influence/, a folder a variant in each, grid/, passages/ and demonstrations/; latents: of the
    perceiver; leading: the variants that stand out in figures of many, with a folder each in exposure/. Raises
    StudyError where something is missing or broken.
    """
    measured = [read_costs(data / "cost" / name) for name in variants]
    reaches = [read_reach(data / "influence" / name) for name in variants]
    grid = read_record(data / "grid/grid.json", GRID)
    passages = read_record(data / "passages/passages.json", PASSAGES)
    shown = read_record(data / "demonstrations/demonstrations.json", DEMONSTRATIONS)
    exposures = {name: read_record(data / "exposure" / name / "exposure.json", EXPOSURE) for name in leading}
    records = [grid, passages, shown, *exposures.values()]
    origins = {*(made(record["provenance"]) for record in records), *(variant.made for variant in measured)}

    parts = [
        costs_part(measured, latents, leading),
        reach_part(reaches),
        exploration_part(explored),
        text_part(grid, passages),
        demonstrations_part(shown, {name: exposure["answers"] for name, exposure in exposures.items()}),
    ]
    text = fill(__file__, "method.md.jinja", parts=[part.text for part in parts], made=sorted(origins))
    write_page(target, text, {name: content for part in parts for name, content in part.files.items()})


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
