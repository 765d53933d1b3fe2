"""The figure of a study: lines over a swept number, or a row for each group."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from stages.reporting.style import BLUE, INK, ORANGE, SMALL, looks, rows_figure, svg
from stages.trials.study.measures import Measure
from stages.trials.study.row import Row

LEAST_VALUES = 3  # of a swept number: fewer are rows
MOST_GROUPS = 40  # that a figure has rows for
FACTOR = 8  # between the largest and the least value: from here on the axis is logarithmic
PERCENT = "%"


@dataclass(frozen=True)
class Group:
    """Trainings that differ in seed and world alone."""

    change: str
    swept: str  # as in a cell
    variant: str
    rows: list[Row]

    @cached_property
    def values(self) -> dict[str, Any]:
        """The swept values by dotted key."""
        return json.loads(self.swept) if self.swept else {}

    @property
    def name(self) -> str:
        """Change, variant and swept values."""
        values = [f"{key.rpartition('.')[2]} {value}" for key, value in self.values.items()]
        return ", ".join([self.change, self.variant, *values])

    def mean(self, measure: Measure) -> float:
        return float(np.mean([measure.value(row) for row in self.rows]))


def draw(groups: Sequence[Group], measures: dict[str, Measure]) -> str:
    """Return the figure as SVG; empty where there is nothing to compare."""
    key = axis_of(groups)
    if key:
        return svg(draw_lines(groups, [*measures.values()], key))
    shares = [measure for measure in measures.values() if measure.title.endswith(PERCENT)][:2]
    if shares and 1 < len(groups) <= MOST_GROUPS:
        return svg(draw_rows(groups, shares))
    return ""


def axis_of(groups: Sequence[Group]) -> str | None:
    """Return the swept key with the most numbers, if it has at least three."""
    numbers: dict[str, set[float]] = {}
    for group in groups:
        for key, value in group.values.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers.setdefault(key, set()).add(value)
    most = max(numbers, key=lambda key: len(numbers[key]), default=None)
    return most if most and len(numbers[most]) >= LEAST_VALUES else None


def draw_lines(groups: Sequence[Group], measures: Sequence[Measure], key: str) -> Figure:
    """Draw the first two measures over a swept number, a panel each: a line joins what else is the same."""
    shown = measures[:2]
    figure = Figure(figsize=(SMALL, 2.9 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False).ravel()
    lines: dict[str, list[Group]] = {}
    for group in groups:
        if key in group.values:
            others = {name: value for name, value in group.values.items() if name != key}
            lines.setdefault(Group(group.change, json.dumps(others), group.variant, []).name, []).append(group)
    common = _common([*lines])
    look = looks([*lines], leading=[*lines][:7])
    for axes, measure in zip(panels, shown, strict=True):
        for name, of_line in lines.items():
            dash, colour = look[name]
            x = [group.values[key] for group in of_line]
            for group in of_line:
                dots = [measure.value(row) for row in group.rows]
                axes.scatter([group.values[key]] * len(dots), dots, s=9, color=colour, alpha=0.5)
            label = name.removeprefix(common)
            axes.plot(x, [group.mean(measure) for group in of_line], dash, color=colour, linewidth=1.6, label=label)
        axes.set_ylabel(measure.title)
        axes.grid(zorder=0)
        if measure.title.endswith(PERCENT):
            axes.set_ylim(-2, 102)
    values = sorted({group.values[key] for group in groups if key in group.values})
    if values[0] > 0 and values[-1] / values[0] >= FACTOR:
        panels[-1].set_xscale("log")
        panels[-1].xaxis.set_minor_locator(NullLocator())
    panels[-1].set_xticks(values, [f"{value:g}" for value in values])
    panels[-1].set_xlabel(key.rpartition(".")[2].replace("_", " "))
    if len(lines) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _common(names: Sequence[str]) -> str:
    """Return the change that all names begin with, if it is one."""
    first = {name.partition(", ")[0] for name in names}
    return f"{first.pop()}, " if len(first) == 1 else ""


def draw_rows(groups: Sequence[Group], measures: Sequence[Measure]) -> Figure:
    """Draw a row for each group: the means of one or two shares, and small dots for single trainings."""
    names = [group.name for group in groups]
    common = _common(names)
    figure, axes = rows_figure([name.removeprefix(common) for name in names], 1.1 + 0.32 * len(groups), "%")
    for measure, colour, marker in zip(measures, (BLUE, ORANGE), ("o", "D"), strict=False):
        for height, group in enumerate(groups):
            values = [measure.value(row) for row in group.rows]
            axes.scatter(values, [height] * len(values), s=8, color=colour, alpha=0.5, marker=marker, clip_on=False)
        means = [group.mean(measure) for group in groups]
        label = measure.title.removesuffix(", %")
        axes.scatter(means, range(len(groups)), s=36, color=colour, marker=marker, zorder=4, label=label, clip_on=False)
    axes.spines["bottom"].set_color(INK)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
