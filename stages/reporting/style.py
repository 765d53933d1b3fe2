"""The look of the reports' pictures, and their SVG text: the same input gives the same bytes."""

import io
from collections.abc import Collection, Sequence
from functools import partial
from itertools import cycle, product
from xml.etree.ElementTree import Element

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SMALL = 5.4  # inches: a phone shows a figure of this width as a whole

# Okabe and Ito's palette, told apart with any colour vision; its yellow is too pale on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":")
BLUE, RED, ORANGE = COLOURS[0], COLOURS[1], COLOURS[4]
INK, GREY, PALE = "#222222", "#595959", "#B5B5B5"
PRETRAINED, SCRATCH = BLUE, ORANGE

STYLE = {
    "svg.hashsalt": "knowledge-access",  # identifiers inside the file are otherwise random
    "svg.fonttype": "path",  # looks the same whatever fonts the reader has
    "text.parse_math": False,  # a `$` in a name is a dollar sign
    "font.family": "DejaVu Sans",  # the font that matplotlib brings along
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "grid.color": "#DDDDDD",
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "figure.facecolor": "white",  # readable on a dark page too
}


def looks(names: Sequence[str], leading: Collection[str] = ()) -> dict[str, tuple[str, str]]:
    """Return a dash and a colour for each name: a variant looks the same in all figures that are given the same names.

    leading: those that keep a colour where there are more names than colours; the others are pale.
    """
    kept = [name for name in names if name in leading] if len(names) > len(COLOURS) else []
    look = dict(zip(sorted(kept or names), cycle(product(DASHES, COLOURS)), strict=False))
    return {name: look.get(name, (DASHES[0], PALE)) for name in names}


def rows_figure(names: Sequence[str], height: float, label: str) -> tuple[Figure, Axes]:
    """Return a figure of small width, `height` in inches, with a row for each name and a labelled axis of 0 … 100 %."""
    figure = Figure(figsize=(SMALL, height), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.55)  # the first on top
    axes.set_xlim(0, 100)
    axes.set_xlabel(label)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    return figure, axes


# The context to draw in; it begins from the library's defaults, so that a user's matplotlibrc changes nothing
styled = partial(matplotlib.style.context, ["default", STYLE])


def svg(figure: Figure) -> str:
    """Return the figure as the text of an SVG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    lines = buffer.getvalue().decode("utf-8").splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def css_width(picture: Element) -> str:
    """Return the rule of a page's style that shows an SVG file as wide as it was drawn: 96 pixels an inch."""
    return f"--width: {96 / 72 * float(picture.attrib['width'].removesuffix('pt')):.0f}px"
