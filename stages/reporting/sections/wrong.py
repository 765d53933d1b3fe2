"""The report's section on wrong answers: about which places, names and pages, and what they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.sections.failures import COLUMNS
from stages.reporting.statistics.significance import Difference, compare_trainings
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

CLASSES = {"0": 0, "1": 1, "2 to 5": 2, "more": 6}  # heading: the least number of training questions
DISTANCES = {"under 20": 0, "20 to 39": 20, "40 to 59": 40, "60 and more": 60}  # heading: the least characters
FEWEST = 30  # questions: fewer say too little of a group
CLAIM = ("synthesizer", "vanilla")  # report C says that the first is worse at long distances
KINDS = {origin: name for origin, name in COLUMNS.items() if origin != "correct"} | {"hallucination": "nowhere"}


def wrong_part(results: Sequence[Result], baseline: Baseline) -> Part:
    """Return the section on `results`, best first, which names no place but the baseline's."""
    text = fill(
        __file__,
        "wrong.md.jinja",
        place=baseline.place,
        results=results,
        frequency_table=frequency_table(results, baseline.place),
        kinds_table=kinds_table(results, baseline.place),
        group_table=group_table(results),
        distance_table=distance_table(results),
        claim=claim(results),
        fewest=FEWEST,
    )
    return Part(text)


def frequency_table(results: Sequence[Result], place: str) -> Markdown:
    """Return each pretrained variant's accuracy by how many training questions have the same gold answer.

    place: the constant answer, which the last row gives to each question.
    """
    asked = results[0].pretrained.asked
    correct: dict[str, Any] = {result.variant: result.pretrained.correct for result in results}
    correct["the reader"] = (asked.reader == asked.gold).to_numpy()
    correct[f"always {place}"] = (asked.gold == place).to_numpy()
    rows = class_rows(in_classes(asked.training_questions, CLASSES), CLASSES, correct, fewest=1)
    return table(("training questions", *CLASSES), rows, right=[*CLASSES])


def kinds_table(results: Sequence[Result], place: str) -> Markdown:
    """Return the kinds of wrong answers after pretraining, all seeds together, in percent."""
    header = ("variant", "wrong answers", *(f"{name}, %" for name in KINDS.values()), f"{place}, %")
    rows = []
    for result in results:
        origins = result.evaluation.origins.query("asked == 'dev' and init == 'pretrained' and origin != 'correct'")
        shares = [percent((origins.origin == kind).mean()) for kind in KINDS]
        wrong = result.pretrained.predicted[result.pretrained.correct == 0]
        of_place = percent((wrong == place).mean()) if len(wrong) else "–"
        rows.append((result.variant, f"{len(wrong):,}", *shares, of_place))
    return table(header, rows, right=header[1:])


def group_table(results: Sequence[Result]) -> Markdown:
    """Return each pretrained variant's accuracy by the group of the name."""
    group = results[0].pretrained.asked.group
    groups = [name for name in dict.fromkeys(group) if name]
    correct = {f"{result.variant}: right": result.pretrained.correct for result in results}
    return table(("names", *groups), class_rows(group, groups, correct), right=groups)


def distance_table(results: Sequence[Result]) -> Markdown:
    """Return each pretrained variant's accuracy by the distance of the gold answer from the title, and its slope."""
    distance = results[0].pretrained.asked.distance
    correct = {result.variant: result.pretrained.correct for result in results}
    counts, *rows = class_rows(in_classes(distance, DISTANCES), DISTANCES, correct)
    points = [f"{100 * slopes(result).mean():+.1f}" for result in results]
    header = ("characters between title and gold answer", *DISTANCES, "points for 10 more")
    cells = [[*counts, ""], *([*row, slope] for row, slope in zip(rows, points, strict=True))]
    return table(header, cells, right=header[1:])


def in_classes(values: pd.Series, least: Mapping[str, int]) -> pd.Series:
    """Return the class of each value, given the least value of each class; NaN has no class."""
    return pd.cut(values, [*least.values(), np.inf], right=False, labels=[*least])


def class_rows(
    class_of: pd.Series, classes: Iterable[str], correct: Mapping[str, Any], fewest: int = FEWEST
) -> list[list[object]]:
    """Return how many questions are in each class, then a row of accuracies in percent for each of `correct` (N, …).

    class_of: the class of each question (N,). A class of fewer than `fewest` questions has a dash.
    """
    members = [(class_of == name).to_numpy() for name in classes]
    rows: list[list[object]] = [["dev questions", *(chosen.sum() for chosen in members)]]
    for name, marks in correct.items():
        rows.append([name, *(percent(marks[chosen].mean()) if chosen.sum() >= fewest else "–" for chosen in members)])
    return rows


def claim(results: Sequence[Result]) -> list[Difference]:
    """Compare the slopes of the two variants of CLAIM, where both have one."""
    by_variant: dict[str, Any] = {result.variant: slopes(result) for result in results}
    have_one = {variant for variant, numbers in by_variant.items() if not np.allclose(numbers, 0)}
    return compare_trainings(by_variant, [CLAIM]) if have_one >= {*CLAIM} else []


def slopes(result: Result) -> npt.NDArray[np.float64]:
    """Return numbers (N, seeds) whose mean is the slope of accuracy against distance, for 10 characters.

    They spread as the residuals of a least-squares line do, a line a seed, so the slope is compared as an accuracy is.
    """
    distance = result.pretrained.asked.distance
    known = distance.notna().to_numpy()
    weights = (distance - distance.mean()).fillna(0).to_numpy()[:, None]  # (N, 1)
    scale = (weights**2).sum() or 1.0
    correct = result.pretrained.correct
    slope = (weights * correct).sum(axis=0) / scale  # (seeds,)
    middle = correct[known].mean(axis=0) if known.any() else 0.0
    residuals = correct - middle - weights * slope
    return 10 * (slope + len(weights) * weights * residuals / scale)
