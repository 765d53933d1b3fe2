"""Groups of trainings that differ in seed and world alone: what tells them apart, and the figures of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.markdown import estimate
from stages.reporting.statistics import CONFIDENCE, LEAST_SEEDS, accuracy_interval, wilson
from stages.trials.study.plan import Plan
from stages.trials.study.row import Cell, Measure, Row

NAMES = ("change", "variant")  # keys whose values need no name beside them
LEAST_VALUES = 3  # of a swept number: fewer are rows


@dataclass(frozen=True)
class Group:
    """A cell without seed and world, and the rows of its trainings."""

    cell: Cell
    rows: list[Row]

    @cached_property
    def values(self) -> dict[str, Any]:
        """Change, variant, and the swept values by dotted key."""
        return {"change": self.cell.change, "variant": self.cell.variant, **self.cell.values}

    def name(self, keys: Sequence[str]) -> str:
        """Return the values of these keys, as words."""
        named = [key for key in keys if key in self.values]
        words = [str(self.values[key]) if key in NAMES else short_name(key, self.values[key]) for key in named]
        return ", ".join(dict.fromkeys(words))  # a change may have the name of its variant

    def figures(self, measure: Measure) -> list[float]:
        """Return a measure of each training that has it."""
        return [value for row in self.rows if not isnan(value := measure.value(row))]

    def mean(self, measure: Measure) -> float:
        """Return the mean of a measure; NaN without a figure."""
        figures = self.figures(measure)
        return float(np.mean(figures)) if figures else float("nan")

    def shown(self, measure: Measure) -> str:
        """Return the mean of a measure and its 95 % interval, where it has one."""
        mean = self.mean(measure)
        ends = interval(self.rows, measure) if measure.has_interval else ()
        return "–" if isnan(mean) else estimate(mean, ends, f",.{measure.decimals}f")


def short_name(key: str, value: object) -> str:
    """Return a value behind the last name of its dotted key."""
    return f"{key.rpartition('.')[2]} {value}"


def groups_of(plan: Plan) -> list[Group]:
    """Return the rows by change, swept values and variant, in the order of the study's file."""
    groups: dict[Cell, list[Row]] = {}
    for cell in plan.cells:
        if cell in plan.rows:
            groups.setdefault(cell.model_copy(update={"world": "", "seed": 0}), []).append(plan.rows[cell])
    return [Group(cell, rows) for cell, rows in groups.items()]


def varying(groups: Sequence[Group], axis: str | None = None) -> list[str]:
    """Return the keys that tell groups apart, without the one on the axis."""
    keys = dict.fromkeys(key for group in groups for key in group.values if key != axis)
    return [key for key in keys if len({str(group.values.get(key)) for group in groups}) > 1]


def labels(groups: Sequence[Group], axis: str | None = None) -> list[str]:
    """Return what tells each group from the others, without the value on the axis."""
    keys = varying(groups, axis)
    return [group.name(keys) or group.cell.variant for group in groups]


def axis_of(groups: Sequence[Group]) -> str | None:
    """Return the swept key with the most numbers, if it has at least three and most groups have it."""
    numbers: dict[str, list[float]] = {}
    for group in groups:
        for key, value in group.values.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers.setdefault(key, []).append(value)
    most = max(numbers, key=lambda key: len({*numbers[key]}), default=None)
    is_axis = most and len({*numbers[most]}) >= LEAST_VALUES and len(numbers[most]) > len(groups) / 2
    return most if is_axis else None


def marks_of(rows: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return marks as (N, trainings), without those of questions that have none."""
    return np.array([[int(mark) for mark in marks if mark != "-"] for marks in rows]).T


def interval(rows: Sequence[Row], measure: Measure) -> tuple[float, float] | tuple[()]:
    """Return the 95 % interval of a measure's mean.

    Of marks it is the project's for accuracies, over questions and, from three trainings on, over these; where each
    training has questions of its own, and for other figures, Student's over three trainings or more that are not equal.
    """
    marks = [measure.marks(row) for row in rows] if measure.marks else [""]
    if all({*of_row} - {"-"} for of_row in marks) and len({row.world for row in rows}) == 1:
        low, high = accuracy_interval(marks_of(marks))
        return 100 * low, 100 * high
    values = [value for row in rows if not isnan(value := measure.value(row))]
    if len(values) >= LEAST_SEEDS:
        if min(values) == max(values):  # equal trainings do not show how far others would lie
            return ()
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * stats.sem(values))
        low, high = float(np.mean(values)) - half, float(np.mean(values)) + half
        if not measure.is_percent:
            return low, high
        return low if measure.may_be_negative else max(0.0, low), min(100.0, high)
    if measure.marks and len(values) == 1 and rows[0].questions:
        low, high = wilson(values[0] / 100, rows[0].questions)
        return 100 * low, 100 * high
    return ()
