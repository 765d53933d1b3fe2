"""Which inputs reach which outputs: the derivatives of stage `influence` as a table and pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from safetensors.numpy import load_file

from stages.reporting.markdown import Markdown, table
from stages.reporting.style import WIDTH, svg
from stages.reporting.template import Part, fill
from stages.system.digests import verified
from stages.system.records import read_record, record, some

INFLUENCE = record(recipe=str, settings=some(dict[str, Any]))  # influence.json; the variant's own settings first
LEVELS = (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)  # steps, not a scale: they are read off, and files stay small
COLUMNS = 4
BAR = 1.1  # inches, the colours' scale
PANEL = (WIDTH - BAR) / COLUMNS


@dataclass(frozen=True, eq=False)
class Reach:
    """The influence of inputs (columns) on outputs (rows) of a variant with some settings."""

    variant: str
    recipe: str  # whose shape it has
    settings: str  # in words
    strength: npt.NDArray[np.float64]  # (T, T); 0 is none at all, 1 is what a residual passes on


def read_reach(folder: Path) -> list[Reach]:
    """Read the matrices of the variant that `folder` is named after, its own settings first; raises StudyError."""
    influence = read_record(folder / "influence.json", INFLUENCE)
    matrices = load_file(verified(folder / "influence.safetensors"))
    reaches = []
    for number, settings in enumerate(influence["settings"]):
        words = ", ".join(f"{key} {value}".lower() for key, value in settings.items())
        reaches.append(Reach(folder.name, influence["recipe"], words, matrices[str(number)]))
    return reaches


def reach_part(reaches: Sequence[Sequence[Reach]]) -> Part:
    """Return the section on all variants; reaches: of each variant, its own settings first."""
    own = [of_variant[0] for of_variant in reaches]
    several = {of_variant[0].variant: of_variant for of_variant in reaches if len(of_variant) > 1}
    files = {"influence.svg": svg(draw_reach(own, [reach.variant for reach in own]))}
    for variant, of_variant in several.items():
        files[f"influence_{variant}.svg"] = svg(draw_reach(of_variant, [reach.settings for reach in of_variant]))
    table = reach_table([*chain(*reaches)])
    return Part(fill(__file__, "reach.md.jinja", recipe=own[0].recipe, several=[*several], table=table), files)


def reach_table(reaches: Sequence[Reach]) -> Markdown:
    """Return what each variant's outputs cannot know."""
    header = ("variant", "settings", "pairs without influence, %", "first output to miss an input", "inputs of last")
    rows = []
    for reach in reaches:
        lost = np.tril(reach.strength == 0)
        pairs = 100 * lost.sum() / np.tril(np.ones_like(lost)).sum()
        first = int(lost.any(axis=1).argmax()) if lost.any() else "–"
        known = f"{len(lost) - lost[-1].sum()} of {len(lost)}"
        rows.append((reach.variant, reach.settings, f"{pairs:.1f}", first, known))
    return table(header, rows, right=header[2:])


def draw_reach(reaches: Sequence[Reach], titles: Sequence[str]) -> Figure:
    """Draw a panel a matrix, in steps, white where there is no influence at all."""
    rows = ceil(len(reaches) / COLUMNS)
    columns = ceil(len(reaches) / rows)
    figure = Figure(figsize=(PANEL * columns + BAR, (PANEL + 0.2) * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    colours = matplotlib.colormaps["viridis_r"].with_extremes(bad="white")
    norm = BoundaryNorm(LEVELS, colours.N, extend="max")
    for axes, reach, title in zip(panels, reaches, titles, strict=False):
        image = axes.imshow(np.ma.masked_equal(reach.strength, 0), cmap=colours, norm=norm, interpolation="none")
        axes.set_title(title, fontsize=8.5)
    for axes in panels[len(reaches) :]:
        axes.remove()

    figure.supxlabel("input (characters)", fontsize=8)
    figure.supylabel("output (characters)", fontsize=8)
    used = list(panels[: len(reaches)])
    bar = figure.colorbar(image, ax=used, spacing="uniform", ticks=LEVELS, aspect=15 * rows, shrink=0.95)
    bar.ax.set_yticklabels([f"{level:g}" for level in LEVELS], fontsize=8)
    bar.set_label("strength (white: none)", fontsize=8)
    return figure
