"""The page of a study, from its file and its rows alone: reports/trials/<study>/page/, with its figure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.html import write_page
from stages.reporting.markdown import Markdown, estimate, fill, p_value, short, table
from stages.reporting.statistics import (
    CONFIDENCE,
    LEAST_SEEDS,
    Difference,
    accuracy_interval,
    compare_trainings,
    wilson,
)
from stages.reporting.style import BLUE, INK, ORANGE, SMALL, looks, rows_figure, styled, svg
from stages.settings import load
from stages.settings.section import written
from stages.system.errors import Parser, StudyError, command
from stages.trials.study.plan import Plan, studies
from stages.trials.study.row import MEASURES, REPORTS, Measure, Row

LEAST_VALUES = 3  # of a swept number: fewer are rows
MOST_GROUPS = 40  # that a figure has rows for
FACTOR = 8  # between the largest and the least value: from here on the axis is logarithmic
PERCENT = "%"
MOST_DIFFERENCES = 16  # of a table that one still reads
LEAST_OF_OVERVIEW = 13  # groups
SHOWN_TEMPERATURES = ("0", "0.8")


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


def study_figure(groups: Sequence[Group], measures: dict[str, Measure]) -> str:
    """Return the figure as SVG; empty where there is nothing to compare."""
    key = axis_of(groups)
    if key:
        return svg(draw_lines(groups, [*measures.values()], key))
    shares = [measure for measure in measures.values() if measure.title.endswith(PERCENT)][:2]
    if shares and 1 < len(groups) <= MOST_GROUPS:
        return svg(draw_rows(groups, shares))
    return ""


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


def draw_lines(groups: Sequence[Group], measures: Sequence[Measure], key: str) -> Figure:
    """Draw the first two measures over a swept number, a panel each: a line joins what else is the same."""
    shown = measures[:2]
    figure = Figure(figsize=(SMALL, 2.9 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False).ravel()
    lines: dict[str, list[Group]] = {}
    for group, name in zip(groups, labels(groups, key), strict=True):
        if key in group.values:
            lines.setdefault(name, []).append(group)
    look = looks([*lines], leading=[*lines][:7])
    for axes, measure in zip(panels, shown, strict=True):
        for name, of_line in lines.items():
            dash, colour = look[name]
            x = [group.values[key] for group in of_line]
            for group in of_line:
                dots = [measure.value(row) for row in group.rows]
                axes.scatter([group.values[key]] * len(dots), dots, s=9, color=colour, alpha=0.5)
            axes.plot(x, [group.mean(measure) for group in of_line], dash, color=colour, linewidth=1.6, label=name)
        axes.set_ylabel(measure.title)
        axes.grid(zorder=0)
        if measure.title.endswith(PERCENT):
            axes.set_ylim(-2, 102)
    values = sorted({group.values[key] for group in groups if key in group.values})
    if values[0] > 0 and values[-1] / values[0] >= FACTOR:
        panels[-1].set_xscale("log")
        panels[-1].xaxis.set_minor_locator(NullLocator())
    panels[-1].set_xticks(values, [f"{value:g}" for value in values])
    panels[-1].set_xlabel(title_of(key))
    if len(lines) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def labels(groups: Sequence[Group], axis: str | None = None) -> list[str]:
    """Return what tells each group from the others, without the value on the axis."""
    kept = [key for key in keys_of(groups) if key != axis and len({str(group.values.get(key)) for group in groups}) > 1]
    several = [name for name in ("change", "variant") if len({getattr(group, name) for group in groups}) > 1]
    names = []
    for group in groups:
        values = [f"{key.rpartition('.')[2]} {group.values[key]}" for key in kept if key in group.values]
        names.append(", ".join([*(getattr(group, name) for name in several), *values]) or group.variant)
    return names


def draw_rows(groups: Sequence[Group], measures: Sequence[Measure]) -> Figure:
    """Draw a row for each group: the means of one or two shares, and small dots for single trainings."""
    figure, axes = rows_figure(labels(groups), 1.1 + 0.32 * len(groups), "%")
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


@command
def main() -> None:
    """Write the page of a study from the rows that are there."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("study", help=f"one of {', '.join(studies())}")
    write_study(Plan(parser.parse_args().study, load()))


@styled()
def write_study(plan: Plan) -> Path:
    """Write report.md, index.html and the figure, and return the report. Raises StudyError: the study has no rows."""
    if not plan.rows:
        raise StudyError(f"study {plan.name} has no rows; run: python -m stages.trials {plan.name}")
    groups = groups_of(plan)
    measures = {name: MEASURES[name] for name in plan.study.measures}
    svg = study_figure(groups, measures)
    rows = [*plan.rows.values()]
    old = [row for cell, row in plan.rows.items() if not plan.is_of_today(cell)]
    text = fill(
        Path(__file__).with_name("study.md.jinja"),
        name=plan.name,
        title=plan.name.replace("_", " ").capitalize(),
        study=plan.study,
        drawn=bool(svg),
        overview=first_measure(groups, next(iter(measures.values()))),
        results=results_table(plan, groups, measures, old),
        differences=differences_of(plan, groups),
        chosen=choices_table(plan),
        said=[
            (group.name, [*map(_said, group.rows)])
            for group in groups
            if any(row.said not in ("", "[]") for row in group.rows)
        ],
        passages=passages_of(groups),
        changes={name: {**change} for name, change in plan.study.changes.items()},
        written=written,
        made=sorted({(short(row.commit), row.device, row.precision) for row in rows}),
        cells=len(plan.cells),
        ended=len(plan.rows),
        old=len(old),
    )
    folder = REPORTS / plan.name / "page"
    write_page(folder, text, {"figure.svg": svg} if svg else {})
    return folder / "report.md"


def groups_of(plan: Plan) -> list[Group]:
    """Return the rows by change, swept values and variant, in the order of the study's file."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for cell in plan.cells:
        rows = groups.setdefault((cell.change, cell.swept, cell.variant), [])
        if cell in plan.rows:
            rows.append(plan.rows[cell])
    return [Group(*key, rows) for key, rows in groups.items() if rows]


def results_table(plan: Plan, groups: Sequence[Group], measures: dict[str, Measure], old: Sequence[Row]) -> Markdown:
    """Return a row a group: what it is, how many trainings it has, and each measure's mean with its interval.

    old: rows of other settings than today's.
    """
    keys = [key for key in keys_of(groups) if len({str(group.values.get(key)) for group in groups}) > 1]
    several = {
        "change": len(plan.study.changes) > 1,
        "variant": len({group.variant for group in groups}) > 1,
    }
    header = [name for name, shown in several.items() if shown] + [title_of(key) for key in keys]
    numbers = [measure.title for measure in measures.values()]
    goal, first = plan.study.goal, next(iter(measures.values()))
    numbers += [f"p, mean above {goal:g}", "trainings"] if goal is not None else ["trainings"]
    lines = []
    for group in groups:
        names = [getattr(group, name) for name, shown in several.items() if shown]
        values = [written(group.values[key]) if key in group.values else "–" for key in keys]
        tested = [p_value(above(group.rows, first, goal))] if goal is not None else []
        trainings = f"{len(group.rows)}{' †' if any(row in old for row in group.rows) else ''}"
        figures = [with_interval(group.rows, measure) for measure in measures.values()]
        lines.append([*names, *values, *figures, *tested, trainings])
    return table([*header, *numbers], lines, numbers=slice(sum(several.values()), None))


def above(rows: Sequence[Row], measure: Measure, goal: float) -> float:
    """Return p of Student's one-sided test that the mean of a measure over trainings is not above a goal."""
    values = [measure.value(row) for row in rows]
    return float(stats.ttest_1samp(values, goal, alternative="greater").pvalue) if len(values) > 1 else nan


def title_of(key: str) -> str:
    """Return the last name of a dotted key, in words."""
    return key.rpartition(".")[2].replace("_", " ")


def keys_of(groups: Sequence[Group]) -> list[str]:
    """List the swept keys."""
    return list(dict.fromkeys(key for group in groups for key in group.values))


def first_measure(groups: Sequence[Group], measure: Measure) -> Markdown | None:
    """Return the first measure alone, a column for each value of the axis; None where the whole table is short."""
    axis = axis_of(groups)
    if not axis or len(groups) < LEAST_OF_OVERVIEW:
        return None
    values = sorted({group.values[axis] for group in groups if axis in group.values})
    lines: dict[str, dict[object, str]] = {}
    for group, name in zip(groups, labels(groups, axis), strict=True):
        if axis in group.values:
            lines.setdefault(name, {})[group.values[axis]] = with_interval(group.rows, measure)
    titles = [f"{title_of(axis)} {value:g}" for value in values]
    rows = [[name, *(cells.get(value, "–") for value in values)] for name, cells in lines.items()]
    return table([measure.title, *titles], rows)


def with_interval(rows: Sequence[Row], measure: Measure) -> str:
    """Return the mean of a measure and its 95 % interval, where it has one."""
    values = [value for row in rows if not isnan(value := measure.value(row))]
    if not values:
        return "–"
    ends = interval(rows, measure) if measure.has_interval else ()
    return estimate(float(np.mean(values)), ends, f",.{measure.decimals}f")


def interval(rows: Sequence[Row], measure: Measure) -> tuple[float, float] | tuple[()]:
    """Return the 95 % interval of a measure's mean.

    Of marks it is the project's for accuracies, over questions and, from three trainings on, over these; where each
    training has questions of its own, and for other figures, Student's over three trainings or more.
    """
    marks = [measure.marks(row).replace("-", "") for row in rows] if measure.marks else [""]
    if all(marks) and len({row.world for row in rows}) == 1:
        low, high = accuracy_interval(np.array([[*map(int, of_row)] for of_row in marks]).T)
        return 100 * low, 100 * high
    values = [value for row in rows if not isnan(value := measure.value(row))]
    if len(values) >= LEAST_SEEDS:
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * stats.sem(values))
        low, high = float(np.mean(values)) - half, float(np.mean(values)) + half
        return (low, min(100.0, high)) if measure.title.endswith(PERCENT) else (low, high)
    if measure.marks and len(values) == 1 and rows[0].questions:
        low, high = wilson(values[0] / 100, rows[0].questions)
        return 100 * low, 100 * high
    return ()


def differences_of(plan: Plan, groups: Sequence[Group]) -> list[Difference]:
    """Compare the answers of all other groups with the first one's, where all were asked the same questions."""
    comparable = all(row.right_marks and not row.world for group in groups for row in group.rows)
    if not comparable or not 1 < len(groups) <= MOST_DIFFERENCES or "answered" not in plan.study.measures:
        return []
    marks = {
        name: np.array([[*map(int, row.right_marks)] for row in group.rows]).T
        for group, name in zip(groups, labels(groups), strict=True)
    }
    if len({len(of_group) for of_group in marks.values()}) > 1:
        return []
    first, *others = marks
    return compare_trainings(marks, [(other, first) for other in others])


def choices_table(plan: Plan) -> Markdown | None:
    """Return the values that other studies chose, by variant, with a word where the best lies at an end."""
    rows = []
    for choice, cell, value, at_end in plan.choices():
        values = {key: value for key, value in cell.values.items() if key in plan.other_keys(choice)}
        about = ", ".join([cell.variant, *(f"{key.rpartition('.')[2]} {value}" for key, value in values.items())])
        rows.append((choice.key, choice.of, about, written(value), "yes" if at_end else "no"))
    header = ("setting", "chosen in study", "for", "value", "at an end of those tried")
    return table(header, list(dict.fromkeys(rows)), numbers=slice(0)) if rows else None


def _said(row: Row) -> tuple[int, list[str]]:
    return row.seed, json.loads(row.said or "[]")


def passages_of(groups: Sequence[Group]) -> list[tuple[str, str, str]]:
    """Return group, temperature and the beginning of what its first training writes."""
    passages = []
    for group in groups:
        if group.rows[0].text:
            content: dict[str, Any] = json.loads(group.rows[0].text)
            passages += [
                (group.name, at, content[f"passage_{at}"]) for at in SHOWN_TEMPERATURES if f"passage_{at}" in content
            ]
    return passages


if __name__ == "__main__":
    main()
