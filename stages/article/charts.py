"""The article's figures: dots in rows, each a value of a committed report, as SVG that a script can touch."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.style
import pandas as pd
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from stages.reporting.html.conversion import inlined
from stages.reporting.style import COLOURS, GREY, INK, STYLE, rows_figure, svg
from stages.reporting.trials import figures
from stages.trials.row import ACCESS, PRACTICES, Row

REPORTS = Path("reports")
SHAPES = {"o": "●", "s": "■", "D": "◆", "^": "▲"}  # of the series, for those who see no colours
LOOK = STYLE | {
    "svg.fonttype": "none",  # text that can be selected
    "font.size": 11.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
PAINT = {INK: "currentColor", "#000000": "currentColor", GREY.lower(): "var(--soft)", "#dddddd": "var(--rule)"}
PAINT |= {colour.lower(): f"var(--series-{number})" for number, colour in enumerate(COLOURS[: len(SHAPES)])}
INITS = {"scratch": "from scratch", "pretrained": "pretrained"}


@dataclass(frozen=True)
class Chart:
    """A figure's values: a row each with `row`, `series`, `value` and, if known, `low` and `high`; all in percent."""

    points: pd.DataFrame
    label: str
    constant: float | None = None  # where a dashed line stands

    @property
    def series(self) -> list[tuple[str, str]]:
        """Names and shapes."""
        return [*zip(dict.fromkeys(self.points.series), SHAPES.values(), strict=False)]

    @property
    def said(self) -> list[tuple[str, str, str]]:
        """Of each dot its row, its series and its value as text."""
        return [(row, name, _said(value, low, high)) for row, name, value, low, high in self._rows()]

    def value(self, row: str, series: str) -> float:
        """The value of a dot."""
        return next(value for name, other, value, *_ in self._rows() if (name, other) == (row, series))

    @property
    def last(self) -> float:
        """The value of the last dot."""
        return float(self.points.value.iloc[-1])

    def _rows(self) -> Sequence[tuple[str, str, float, float, float]]:
        columns = ["row", "series", "value", "low", "high"]
        return [*self.points.reindex(columns=columns).itertuples(index=False, name=None)]

    def html(self, name: str, label: str) -> Markup:
        """The figure as an element whose dots have their series and value as data."""
        with matplotlib.style.context(["default", LOOK]):
            picture = str(inlined(svg(self._drawn()), f"{name}--", label))
        for colour, paint in PAINT.items():
            picture = picture.replace(colour, paint)
        picture = re.sub(r"font-family: [^;\"]*;? ?", "", picture)
        for number, (row, series, said) in enumerate(self.said):
            data = f'class="mark" data-series="{escape(series)}" data-said="{escape(f"{series}, {row}: {said}")}"'
            picture = picture.replace(f'<g id="{name}--mark-{number}">', f"<g {data}>")
            picture = picture.replace(f'<g id="{name}--range-{number}">', f'<g data-series="{escape(series)}">')
        return Markup(picture)

    def _drawn(self) -> Figure:
        rows, names = [*dict.fromkeys(self.points.row)], [name for name, _ in self.series]
        figure, axes = rows_figure(rows, 0.75 + (0.18 + 0.09 * len(names)) * len(rows), self.label)
        axes.set_xlim(-2, 102)
        if self.constant is not None:
            axes.axvline(self.constant, color=INK, linestyle="--", linewidth=1.0)
        for number, (row, name, value, low, high) in enumerate(self._rows()):
            order = names.index(name)
            height = rows.index(row) + 0.19 * (order - (len(names) - 1) / 2)
            colour, shape = COLOURS[order], [*SHAPES][order]
            axes.plot([low, high], [height] * 2, color=colour, linewidth=1.4, gid=f"range-{number}")
            axes.plot(value, height, shape, color=colour, markersize=6, gid=f"mark-{number}")
        return figure


def _said(value: float, low: float, high: float) -> str:
    return f"{value:.1f} %" if pd.isna(low) else f"{value:.1f} % ({low:.1f} to {high:.1f})"


def metrics(selection: str) -> dict[str, Any]:
    """The figures of a report, `<recipe>/<selection>`."""
    found: dict[str, Any] = json.loads((REPORTS / selection / "metrics.json").read_text("utf-8"))
    return found


def scratch_chart(selections: Sequence[str], variants: Sequence[str]) -> Chart:
    """Dev accuracy from scratch and pretrained, by recipe."""
    points = []
    for found in map(metrics, selections):
        for init in INITS:
            for variant in variants:
                key, each = "scratch_dev_accuracy" if init == "scratch" else "dev_accuracy", found["variants"][variant]
                ends = {end: each.get(f"{key}_ci_{end}") for end in ("low", "high")}
                row = f"{found['recipe']}, {INITS[init]}"
                points.append({"row": row, "series": variant, "value": each[key], **ends})
    constant = metrics(selections[0])["baseline"]["dev_accuracy"]
    return Chart(pd.DataFrame(points), "dev questions answered (%)", constant)


def extraction_chart(selection: str, rows: Mapping[str, tuple[str, str]], variants: Sequence[str]) -> Chart:
    """Shares of facts; rows: weights and measure, as in extraction.csv, by label."""
    table = pd.read_csv(REPORTS / selection / "extraction.csv")
    points = []
    for label, (weights, measure) in rows.items():
        found = table[(table.weights == weights) & (table.measure == measure)].set_index("variant")
        for variant, each in found.loc[[*variants]].iterrows():
            ends = {end: 100 * each[f"ci_{end}"] for end in ("low", "high")}
            points.append({"row": label, "series": variant, "value": 100 * each["share"], **ends})
    return Chart(pd.DataFrame(points), "facts (%)")


def practice_chart(recipe: str, variant: str) -> Chart:
    """What is memorised and what is answered, by who chooses the phrases; all trained once with seed 1."""
    ablation = pd.read_csv(REPORTS / recipe / "ablation" / "ablation.csv").set_index("change")
    said = {"any": "all phrases alike", "one": "one phrase, drawn once", "reader": "the reader's phrase"}
    cells = {"spans of the pages alone": ablation.loc["only_spans"]}
    rows = [Row.load(path) for path in sorted(ACCESS.glob(f"{recipe}-{variant}-*-1.json"))]
    for row in sorted(rows, key=lambda row: (PRACTICES[::-1].index(row.change), row.epochs)):
        cells[f"{said[row.change]}, {row.epochs} epochs"] = pd.Series(figures([row], row.change))
    full = ablation.loc["full"]
    cells.setdefault(f"{said['reader']}, {full.epochs:.0f} epochs", full)
    points = []
    for label, each in cells.items():
        low, high = 100 * each.ci_low, 100 * each.ci_high
        points.append({"row": label, "series": "memorised", "value": 100 * each.memorised})
        points.append({"row": label, "series": "answered", "value": 100 * each.accuracy, "low": low, "high": high})
    return Chart(pd.DataFrame(points), "facts, or held-out questions (%)")


def mixers_chart(selections: Sequence[str]) -> Chart:
    """Dev accuracy of the pretrained models by variant; the first selection has all variants and orders them."""
    found = [metrics(selection) for selection in selections]
    order = sorted(found[0]["variants"], key=lambda name: -found[0]["variants"][name]["dev_accuracy"])
    points = [
        {
            "row": variant.replace("_", " "),
            "series": each["recipe"],
            "value": each["variants"][variant]["dev_accuracy"],
            "low": each["variants"][variant]["dev_accuracy_ci_low"],
            "high": each["variants"][variant]["dev_accuracy_ci_high"],
        }
        for each in found
        for variant in order
        if variant in each["variants"]
    ]
    return Chart(pd.DataFrame(points), "dev questions answered (%)")
