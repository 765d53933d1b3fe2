"""What the article's sections show: figures of committed reports, as SVG whose dots a script can touch."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib.style
import pandas as pd
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from stages.reporting.style import COLOURS, GREY, INK, STYLE, css_width, rows_figure, svg
from stages.system.files import read_json
from stages.trials.study.groups import interval
from stages.trials.study.row import MEASURES, Row, read_rows

IDENTIFIER = re.compile(r' id="| href="#|url\(#')  # precedes an identifier in SVG
DROPPED = ("metadata", "style", "title")  # matplotlib's style rule would hold for the whole page: it is in article.css
SHAPES = {"o": "●", "s": "■", "D": "◆", "^": "▲"}  # tell the series apart without colours
LOOK = STYLE | {
    "svg.fonttype": "none",  # text that can be selected
    "font.size": 11.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
PAINT = {INK: "currentColor", "#000000": "currentColor", GREY.lower(): "var(--soft)", "#dddddd": "var(--rule)"}
PAINT |= {colour.lower(): f"var(--series-{number})" for number, colour in enumerate(COLOURS[: len(SHAPES)])}
REPORTS = Path("reports")
HANDOUT = "handout/compared"
UNAIDED = "unaided/compared"
OPEN = "open/all"
QUICK = "quick/compared"
ACCURACIES = {"from scratch": "scratch_dev_accuracy", "pretrained": "dev_accuracy"}
WORDS = {
    "page's words, pretrained": ("pretrained", "continuation"),
    "page's words, finetuned": ("finetuned", "continuation"),
    "question, finetuned": ("finetuned", "extracted"),
}
SHIFTS = {
    f"{shift} before, {weights}": (weights, f"offset_{shift}")
    for weights in ("pretrained", "finetuned")
    for shift in (0, 1, 10)
}
CHOSEN = {  # by change of study `access_open`
    "one_phrase": "one phrase, drawn once",
    "any_phrase": "all capitalised phrases",
    "reader": "the reader's phrase",
}
LOAD = "sources.pairs.load"  # swept in study capacity_loads
EXPOSURES = "pretrain.epochs"  # swept in study capacity_exposures
SHOWN_LOADS = (0.25, 1, 2)  # bits asked a parameter
NO_CLOZES = "the pages alone"
FULL = f"{CHOSEN['reader']}, 60 epochs"


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


def inlined(picture: str, prefix: str, label: str) -> Markup:
    """Return matplotlib's SVG file `picture` as an element that screen readers call `label`.

    Its identifiers begin with `prefix`, so that they fit among those of other pictures.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in [child for child in parent if _local(child.tag) in DROPPED]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(name): " ".join(value.split()) for name, value in element.attrib.items()}
    root.attrib = {"viewBox": root.attrib["viewBox"], "style": css_width(root)}
    root.attrib |= {"role": "img", "aria-label": label}
    return Markup(IDENTIFIER.sub(rf"\g<0>{prefix}", ElementTree.tostring(root, encoding="unicode")))


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def charts(compared: Sequence[str]) -> dict[str, Chart]:
    """Return the figures by name.

    compared: variants of the figures that do not show all; those that a report lacks are left out.
    """
    reports = {selection: metrics(selection) for selection in (HANDOUT, UNAIDED, OPEN, QUICK)}
    compared = in_all(reports.values(), list(dict.fromkeys([*compared, "rope"])))  # of which the text speaks
    shares = published_shares(HANDOUT)
    questions = "dev questions answered (%)"
    return {
        "scratch": Chart(by_init(reports.values(), compared), questions, reports[HANDOUT]["baseline"]["dev_accuracy"]),
        "extraction": Chart(facts(shares, WORDS, compared), "facts (%)"),
        "position": Chart(facts(shares, SHIFTS, compared), "facts (%)"),
        "practice": Chart(practice(), "facts, or held-out questions (%)"),
        "mixers": Chart(by_load(read_rows("capacity_loads")), "stored, of what is asked (%)"),
    }


def in_all(reports: Iterable[Mapping[str, Any]], variants: Sequence[str]) -> list[str]:
    """Return those of the variants that each report has; reports: as in metrics.json."""
    return [name for name in variants if all(name in report["variants"] for report in reports)]


def metrics(selection: str) -> dict[str, Any]:
    """Return the figures of a report, `<recipe>/<selection>`."""
    return read_json(REPORTS / selection / "metrics.json")


def published_shares(selection: str) -> pd.DataFrame:
    """Return a report's shares of the facts in percent, with their intervals, by weights, measure and variant."""
    table = pd.read_csv(REPORTS / selection / "extraction.csv").set_index(["weights", "measure", "variant"])
    return 100 * table[["share", "ci_low", "ci_high"]]


def by_init(reports: Iterable[dict[str, Any]], variants: Sequence[str]) -> list[Dot]:
    """Return the accuracies of variants, a row for each report and start of finetuning."""
    dots = []
    for report, (init, key), name in product(reports, ACCURACIES.items(), variants):
        figures = report["variants"][name]
        ends = figures.get(f"{key}_ci_low"), figures.get(f"{key}_ci_high")
        dots.append(Dot(f"{report['recipe']}, {init}", name, figures[key], *ends))
    return dots


def by_load(rows: Sequence[Row]) -> list[Dot]:
    """Return what variants store at each load, in percent, in the order of load 1; rows: of study capacity_loads."""
    stored = MEASURES["stored"]
    of_load: dict[tuple[float, str], list[Row]] = {}
    for row in rows:
        of_load.setdefault((row.values[LOAD], row.variant), []).append(row)
    means = {cell: fmean(map(stored.value, trainings)) for cell, trainings in of_load.items()}
    return [
        Dot(variant.replace("_", " "), f"{load:g}", means[load, variant], *interval(of_load[load, variant], stored))
        for load in SHOWN_LOADS
        for variant in sorted({variant for _, variant in of_load}, key=lambda name: (-means[1, name], name))
        if (load, variant) in of_load
    ]


def stored_after(exposures: int) -> dict[str, float]:
    """Return the share in percent that each variant has stored of one bit a parameter after so many exposures."""
    stored = MEASURES["stored"]
    rows = [row for row in read_rows("capacity_exposures") if row.values[EXPOSURES] == exposures]
    variants = dict.fromkeys(row.variant for row in rows)
    return {name: fmean(stored.value(row) for row in rows if row.variant == name) for name in variants}


def facts(shares: pd.DataFrame, rows: Mapping[str, tuple[str, str]], variants: Sequence[str]) -> list[Dot]:
    """Return shares of the facts; rows: weights and measure of each row."""
    return [Dot(row, variant, *shares.loc[(*rows[row], variant), :]) for row, variant in product(rows, variants)]


def practice() -> list[Dot]:
    """Return what rope memorises and answers on the data of `open`, by who chooses the phrases: one training each."""
    (spans,) = (row for row in read_rows("ablation") if row.change == "only_spans")
    cells: dict[str, Row] = {NO_CLOZES: spans}
    order = [*CHOSEN]
    for row in sorted(read_rows("access_open"), key=lambda row: (order.index(row.change), row.epochs)):
        cells[f"{CHOSEN[row.change]}, {row.epochs} epochs"] = row

    answered, dots = MEASURES["answered"], []
    for label, row in cells.items():
        dots.append(Dot(label, "memorised", MEASURES["memorised"].value(row)))
        dots.append(Dot(label, "answered", answered.value(row), *interval([row], answered)))
    return dots
