"""The article's figures: dots in rows, each a value of a committed report, as SVG that a script can touch."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.style
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from stages.reporting.html.conversion import inlined
from stages.reporting.style import COLOURS, GREY, INK, STYLE, rows_figure, svg

SHAPES = {"o": "●", "s": "■", "D": "◆", "^": "▲"}  # tell the series apart without colours
LOOK = STYLE | {
    "svg.fonttype": "none",  # text that can be selected
    "font.size": 11.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
PAINT = {INK: "currentColor", "#000000": "currentColor", GREY.lower(): "var(--soft)", "#dddddd": "var(--rule)"}
PAINT |= {colour.lower(): f"var(--series-{number})" for number, colour in enumerate(COLOURS[: len(SHAPES)])}


class Dot(NamedTuple):
    """A value in percent, with the ends of its interval where these are known."""

    row: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """The value as text."""
        interval = "" if self.low is None else f" ({self.low:.1f} to {self.high:.1f})"
        return f"{self.value:.1f} %{interval}"


@dataclass(frozen=True)
class Chart:
    """Dots in the order of their rows; of the first row in that of the series."""

    dots: Sequence[Dot]
    label: str
    constant: float | None = None  # where a dashed line stands

    @property
    def series(self) -> list[tuple[str, str]]:
        """Names and shapes."""
        return [*zip(dict.fromkeys(dot.series for dot in self.dots), SHAPES.values(), strict=False)]

    def value(self, row: str, series: str) -> float:
        """Return the value of a dot."""
        return next(dot.value for dot in self.dots if (dot.row, dot.series) == (row, series))

    def html(self, name: str, label: str) -> Markup:
        """Return the figure as an element whose dots have their series and value as data."""
        with matplotlib.style.context(["default", LOOK]):
            picture = str(inlined(svg(self._drawn()), f"{name}--", label))
        for colour, paint in PAINT.items():
            picture = picture.replace(colour, paint)
        picture = re.sub(r"font-family: [^;\"]*;? ?", "", picture)
        for number, dot in enumerate(self.dots):
            series = escape(dot.series)
            words = escape(f"{dot.series}, {dot.row}: {dot.words}")
            picture = picture.replace(
                f'<g id="{name}--mark-{number}">', f'<g class="mark" data-series="{series}" data-said="{words}">'
            )
            picture = picture.replace(f'<g id="{name}--range-{number}">', f'<g data-series="{series}">')
        return Markup(picture)

    def _drawn(self) -> Figure:
        rows = list(dict.fromkeys(dot.row for dot in self.dots))
        names = [name for name, _ in self.series]
        figure, axes = rows_figure(rows, 0.75 + (0.18 + 0.09 * len(names)) * len(rows), self.label)
        axes.set_xlim(-2, 102)
        if self.constant is not None:
            axes.axvline(self.constant, color=INK, linestyle="--", linewidth=1.0)
        for number, dot in enumerate(self.dots):
            order = names.index(dot.series)
            height = rows.index(dot.row) + 0.19 * (order - (len(names) - 1) / 2)
            colour = COLOURS[order]
            ends = [dot.value if end is None else end for end in (dot.low, dot.high)]
            axes.plot(ends, [height] * 2, color=colour, linewidth=1.4, gid=f"range-{number}")
            axes.plot(dot.value, height, [*SHAPES][order], color=colour, markersize=6, gid=f"mark-{number}")
        return figure
