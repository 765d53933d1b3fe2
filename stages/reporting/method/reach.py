"""Which inputs reach which outputs: the derivatives of stage `influence` as a table and pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from safetensors import SafetensorError
from safetensors.numpy import load

from stages.reporting.evaluations import broken, read_record, require
from stages.reporting.markdown import Markdown, table
from stages.reporting.style import WIDTH, styled, svg

LEVELS = (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)  # steps, not a scale: they are read off, and files stay small
COLUMNS = 4
BAR = 1.1  # inches, the colours' scale
PANEL = (WIDTH - BAR) / COLUMNS


@dataclass(frozen=True, eq=False)
class Reach:
    """The influence of inputs (columns) on outputs (rows) of a variant with some settings."""

    variant: str
    setting: str  # what tells it from the variant's others, in words; empty where it is the only one
    strength: npt.NDArray[np.float64]  # (T, T); 0 is none at all, 1 is what a residual passes on

    @property
    def name(self) -> str:
        """Variant and setting."""
        return f"{self.variant}, {self.setting}" if self.setting else self.variant


def read_reach(folder: Path) -> tuple[dict[str, Any], list[Reach]]:
    """Read influence.json and its matrices of the variant that `folder` is named after.

    Returns the record and the matrices, that of the variant's own settings first. Raises StudyError where something is
    missing or broken.
    """
    path, matrices = folder / "influence.json", folder / "influence.safetensors"
    record = read_record(path)
    require(matrices)
    try:
        arrays, T = load(matrices.read_bytes()), int(record["shape"]["context"])
        found = [
            Reach(folder.name, _in_words(each, record["settings"]), arrays[str(number)].reshape(T, T))
            for number, each in enumerate(record["settings"])
        ]
        return record, found
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise broken(path, error) from None


def reach_table(found: Sequence[Reach]) -> Markdown:
    """Return what each variant's outputs cannot know."""
    header = ("variant", "pairs without influence, %", "first output that misses an input", "inputs of the last")
    rows = []
    for each in found:
        lost = np.tril(each.strength == 0)
        pairs = 100 * lost.sum() / np.tril(np.ones_like(lost)).sum()
        first = int(lost.any(axis=1).argmax()) if lost.any() else "–"
        rows.append((each.name, f"{pairs:.1f}", first, f"{len(lost) - lost[-1].sum()} of {len(lost)}"))
    return table(header, rows, right=header[1:])


def reach_svg(found: Sequence[Reach], titles: Sequence[str]) -> str:
    """Draw each matrix in steps, white where there is no influence at all."""
    with styled():
        return svg(draw_reach(found, titles))


def draw_reach(found: Sequence[Reach], titles: Sequence[str]) -> Figure:
    """Return the figure of `reach_svg`."""
    rows = -(-len(found) // COLUMNS)
    columns = -(-len(found) // rows)
    figure = Figure(figsize=(PANEL * columns + BAR, (PANEL + 0.2) * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = matplotlib.colormaps["viridis_r"].with_extremes(bad="white")
    norm = BoundaryNorm(LEVELS, colours.N, extend="max")
    for axes in panels.flat[len(found) :]:
        axes.remove()
    used = list(panels.flat[: len(found)])
    for number, (axes, each, title) in enumerate(zip(used, found, titles, strict=True)):
        strength = np.ma.masked_equal(each.strength, 0)
        image = axes.imshow(strength, cmap=colours, norm=norm, interpolation="none")
        axes.set_title(title, fontsize=8.5)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        if number + columns >= len(found):
            axes.set_xlabel("input (characters)", fontsize=8)
            axes.tick_params(labelbottom=True)
        if number % columns == 0:
            axes.set_ylabel("output (characters)", fontsize=8)
    bar = figure.colorbar(image, ax=used, spacing="uniform", ticks=LEVELS, aspect=15 * rows, shrink=0.95)
    bar.ax.set_yticklabels([f"{level:g}" for level in LEVELS], fontsize=8)
    bar.set_label("strength (white: none)", fontsize=8)
    return figure


def _in_words(settings: dict[str, Any], all_settings: Sequence[dict[str, Any]]) -> str:
    """The settings that differ among `all_settings`: `bottleneck 32, no residual`."""
    said = []
    for key, value in settings.items():
        if any(other.get(key) != value for other in all_settings):
            word = key.replace("_", " ")
            said.append((word if value else f"no {word}") if isinstance(value, bool) else f"{word} {value}")
    return ", ".join(said)
