"""The page of a study, from its file and its rows alone: reports/trials/<study>/page/, with its figure."""

import json
from collections.abc import Sequence
from math import log, nan
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.html import write_page
from stages.reporting.markdown import Markdown, fill, p_value, short, table
from stages.reporting.statistics import Difference, compare_trainings
from stages.reporting.style import BLUE, INK, ORANGE, SMALL, looks, rows_figure, styled, svg
from stages.settings.params import load
from stages.settings.section import written
from stages.system.errors import Parser, UserError, command
from stages.trials.study.groups import (
    NAMES,
    Group,
    axis_of,
    groups_of,
    labels,
    marks_of,
    short_name,
    varying,
)
from stages.trials.study.plan import Plan, studies
from stages.trials.study.row import MEASURES, TRIAL_REPORTS, Measure, Row

TEMPLATE = Path(__file__).with_name("study.md.jinja")
MOST_GROUPS = 40  # that a figure has rows for
LEAST_APART = 0.05  # of the axis, between two labels
FACTOR = 8  # between the largest and the least value: from here on the axis is logarithmic
MOST_DIFFERENCES = 16  # of a table that one still reads
LEAST_OF_OVERVIEW = 13  # groups
SHOWN_TEMPERATURES = ("0", "0.8")


@command
def main() -> None:
    """Write the page of a study from the rows that are there."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("study", help=f"one of {', '.join(studies())}")
    write_study(Plan(parser.parse_args().study, load()))


@styled()
def write_study(plan: Plan) -> Path:
    """Write report.md, index.html and the figure, and return the report. Raises UserError: the study has no rows."""
    if not plan.rows:
        raise UserError(f"study {plan.name} has no rows; run: python -m stages.trials {plan.name}")
    study, rows = plan.study, [*plan.rows.values()]
    groups = groups_of(plan)
    measures = [MEASURES[name] for name in study.measures]
    old = [row for cell, row in plan.rows.items() if not plan.is_of_today(cell)]
    figure = study_figure(groups, measures)
    text = fill(
        TEMPLATE,
        name=plan.name,
        title=plan.name.replace("_", " ").capitalize(),
        study=study,
        drawn=figure is not None,
        overview=overview_table(groups, measures[0]),
        results=results_table(groups, measures, study.goal, old),
        differences=differences_from_first(groups) if "answered" in study.measures else [],
        chosen=choices_table(plan),
        said=[(group.name([*group.values]), said) for group in groups if (said := said_of_nobodies(group))],
        passages=passages_of(groups),
        written=written,
        made=sorted({(short(row.commit), row.device, row.precision) for row in rows}),
        cells=len(plan.cells),
        ended=len(rows),
        old=len(old),
    )
    folder = TRIAL_REPORTS / plan.name / "page"
    write_page(folder, text, {"figure.svg": svg(figure)} if figure else {})
    return folder / "report.md"


def results_table(
    groups: Sequence[Group], measures: Sequence[Measure], goal: float | None, old: Sequence[Row]
) -> Markdown:
    """Return a row a group: what it is, how many trainings it has, and each measure's mean with its interval.

    goal: what the first measure is tested against; old: rows of other settings than today's.
    """
    keys = varying(groups)
    tested = [] if goal is None else [f"p, mean above {goal:g}"]
    header = [*map(title_of, keys), *(measure.title for measure in measures), *tested, "trainings"]
    lines = []
    for group in groups:
        values = [written(group.values[key]) if key in group.values else "–" for key in keys]
        figures = [group.shown(measure) for measure in measures]
        p = [] if goal is None else [p_value(above(group.figures(measures[0]), goal))]
        trainings = f"{len(group.rows)}{' †' if any(row in old for row in group.rows) else ''}"
        lines.append([*values, *figures, *p, trainings])
    return table(header, lines, numbers=slice(len({*NAMES} & {*keys}), None))


def above(values: Sequence[float], goal: float) -> float:
    """Return p of Student's one-sided test that the mean of a measure over trainings is not above a goal."""
    return float(stats.ttest_1samp(values, goal, alternative="greater").pvalue) if len(values) > 1 else nan


def title_of(key: str) -> str:
    """Return the last name of a dotted key, in words."""
    return key.rpartition(".")[2].replace("_", " ")


def overview_table(groups: Sequence[Group], measure: Measure) -> Markdown | None:
    """Return the first measure alone, a column for each value of the axis; None where the whole table is short."""
    axis = axis_of(groups)
    if not axis or len(groups) < LEAST_OF_OVERVIEW:
        return None
    groups = [group for group in groups if axis in group.values]
    values = sorted({group.values[axis] for group in groups})
    lines: dict[str, dict[object, str]] = {}
    for group, name in zip(groups, labels(groups, axis), strict=True):
        lines.setdefault(name, {})[group.values[axis]] = group.shown(measure)
    rows = [[name, *(cells.get(value, "–") for value in values)] for name, cells in lines.items()]
    return table([measure.title, *(f"{title_of(axis)} {value:g}" for value in values)], rows)


def differences_from_first(groups: Sequence[Group]) -> list[Difference]:
    """Compare the answers of all other groups with the first one's, where all were asked the same questions."""
    asked = {len(row.right_marks) if not row.world else 0 for group in groups for row in group.rows}
    if len(asked) > 1 or 0 in asked or not 1 < len(groups) <= MOST_DIFFERENCES:
        return []
    names = labels(groups)
    marks = {name: marks_of([row.right_marks for row in group.rows]) for group, name in zip(groups, names, strict=True)}
    return compare_trainings(marks, [(other, names[0]) for other in names[1:]])


def choices_table(plan: Plan) -> Markdown | None:
    """Return the values that other studies chose, by variant, with a word where the best lies at an end."""
    rows = []
    for choice, cell, value, at_end in plan.choices():
        values = [short_name(key, value) for key, value in cell.values.items() if key in plan.other_keys(choice)]
        about = ", ".join([cell.variant, *values])
        rows.append((choice.key, choice.of, about, written(value), "yes" if at_end else "no"))
    header = ("setting", "chosen in study", "for", "value", "at an end of those tried")
    return table(header, list(dict.fromkeys(rows)), numbers=slice(0)) if rows else None


def said_of_nobodies(group: Group) -> list[tuple[int, list[str]]]:
    """Return by seed what is said of people without a page; empty where nobody was asked about one."""
    said = [(row.seed, json.loads(row.said or "[]")) for row in group.rows]
    return said if any(answers for _, answers in said) else []


def passages_of(groups: Sequence[Group]) -> list[tuple[str, str, str]]:
    """Return group, temperature and the beginning of what its first training writes."""
    passages = []
    for group in groups:
        content: dict[str, Any] = json.loads(group.rows[0].text or "{}")
        temperatures = [at for at in SHOWN_TEMPERATURES if f"passage_{at}" in content]
        passages += [(group.name([*group.values]), at, content[f"passage_{at}"]) for at in temperatures]
    return passages


def study_figure(groups: Sequence[Group], measures: Sequence[Measure]) -> Figure | None:
    """Return the figure; None where there is nothing to compare."""
    key = axis_of(groups)
    if key:
        return draw_lines(groups, measures[:2], key)
    shares = [measure for measure in measures if measure.is_percent][:2]
    return draw_rows(groups, shares) if shares and 1 < len(groups) <= MOST_GROUPS else None


def apart(places: Sequence[float]) -> list[int]:
    """Return the indices of ascending places whose labels do not touch, the first among them."""
    least = LEAST_APART * (places[-1] - places[0])
    kept = [0]
    for number, place in enumerate(places[1:], 1):
        if place - places[kept[-1]] >= least:
            kept.append(number)
    return kept


def draw_lines(groups: Sequence[Group], measures: Sequence[Measure], key: str) -> Figure:
    """Draw one or two measures over a swept number, a panel each: a line joins what else is the same."""
    groups = [group for group in groups if key in group.values]
    figure = Figure(figsize=(SMALL, 2.9 * len(measures)), layout="constrained")
    panels = figure.subplots(len(measures), 1, sharex=True, squeeze=False).ravel()
    lines: dict[str, list[Group]] = {}
    for group, name in zip(groups, labels(groups, key), strict=True):
        lines.setdefault(name, []).append(group)
    look = looks([*lines], leading=[*lines][:7])
    for axes, measure in zip(panels, measures, strict=True):
        for name, of_line in lines.items():
            dash, colour = look[name]
            x = [group.values[key] for group in of_line]
            for group in of_line:
                dots = group.figures(measure)
                axes.scatter([group.values[key]] * len(dots), dots, s=9, color=colour, alpha=0.5)
            axes.plot(x, [group.mean(measure) for group in of_line], dash, color=colour, linewidth=1.6, label=name)
        axes.set_ylabel(measure.title)
        axes.grid(zorder=0)
        if measure.is_percent:
            axes.set_ylim(-2, 102)
    values = sorted({group.values[key] for group in groups})
    is_log = values[0] > 0 and values[-1] / values[0] >= FACTOR
    if is_log:
        panels[-1].set_xscale("log")
        panels[-1].xaxis.set_minor_locator(NullLocator())
    ticks = apart([log(value) if is_log else value for value in values])
    panels[-1].set_xticks([values[tick] for tick in ticks], [f"{values[tick]:g}" for tick in ticks])
    panels[-1].set_xlabel(title_of(key))
    if len(lines) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def draw_rows(groups: Sequence[Group], measures: Sequence[Measure]) -> Figure:
    """Draw a row for each group: the means of one or two shares, and small dots for single trainings."""
    figure, axes = rows_figure(labels(groups), 1.1 + 0.32 * len(groups), "%")
    for measure, colour, marker in zip(measures, (BLUE, ORANGE), ("o", "D"), strict=False):
        for height, group in enumerate(groups):
            values = group.figures(measure)
            axes.scatter(values, [height] * len(values), s=8, color=colour, alpha=0.5, marker=marker, clip_on=False)
        means = [group.mean(measure) for group in groups]
        label = measure.title.removesuffix(", %")
        axes.scatter(means, range(len(groups)), s=36, color=colour, marker=marker, zorder=4, label=label, clip_on=False)
    axes.spines["bottom"].set_color(INK)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


if __name__ == "__main__":
    main()
