"""The report's section on whose answers are wrong: by place, by name, by page, and what is said in their stead."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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
CLAIM = ("synthesizer", "vanilla")  # a source report says that the first is worse at long distances
KINDS = {origin: name for origin, name in COLUMNS.items() if origin != "correct"} | {"hallucination": "nowhere"}


def wrong_part(results: Sequence[Result], baseline: Baseline) -> Part:
    """Return the section on `results`, best first: counts and shares, and the baseline's own places alone."""
    text = fill(
        __file__,
        "wrong.md.jinja",
        place=baseline.place,
        commonest=baseline.constant_place,
        constant_table=constant_table(results, baseline.place),
        frequency_table=frequency_table(results, baseline.constant_place),
        kinds_table=kinds_table(results, baseline.place),
        group_table=group_table(results, baseline.place),
        distance_table=distance_table(results),
        claim=claim(results),
        fewest=FEWEST,
    )
    return Part(text)


def constant_table(results: Sequence[Result], place: str) -> Markdown:
    """Return how often `place` is the right answer and each variant's, all seeds together, in percent."""
    header = ("answers", "from scratch, %", "pretrained, %")
    gold = percent((results[0].pretrained.gold == place).mean())
    rows = [("gold", gold, gold)]
    for result in results:
        scratch, pretrained = ((answers.predicted == place).mean() for answers in (result.scratch, result.pretrained))
        rows.append((result.variant, percent(scratch), percent(pretrained)))
    return table(header, rows, right=header[1:])


def frequency_table(results: Sequence[Result], commonest: str) -> Markdown:
    """Return each pretrained variant's accuracy in percent, by how many training questions the right place answers.

    commonest: the answer of the last row, to every question.
    """
    answers = results[0].pretrained
    classes = np.digitize(answers.training_questions, [*CLASSES.values()]) - 1  # (N,) the number of the class
    correct = {result.variant: result.pretrained.correct.mean(axis=1) for result in results}
    correct["the reader"] = answers.reader == answers.gold
    correct[f"always {commonest}"] = answers.gold == commonest

    rows = [("dev questions", *np.bincount(classes, minlength=len(CLASSES)))]
    for name, right in correct.items():
        of_classes = [classes == number for number in range(len(CLASSES))]
        rows.append((name, *shares(right, of_classes, fewest=1)))
    return table(("training questions", *CLASSES), rows, right=[*CLASSES])


def kinds_table(results: Sequence[Result], place: str) -> Markdown:
    """Return what the wrong answers after pretraining are, all seeds together, in percent of them."""
    header = ("variant", "wrong answers", *(f"{name}, %" for name in KINDS.values()), f"{place}, %")
    rows = []
    for result in results:
        origins = result.evaluation.origins.query("asked == 'dev' and init == 'pretrained' and origin != 'correct'")
        shares = [percent((origins.origin == kind).mean()) for kind in KINDS]
        wrong = result.pretrained.predicted[result.pretrained.correct == 0]
        of_place = percent((wrong == place).mean()) if len(wrong) else "–"
        rows.append((result.variant, f"{len(wrong):,}", *shares, of_place))
    return table(header, rows, right=header[1:])


def group_table(results: Sequence[Result], place: str) -> Markdown:
    """Return each pretrained variant's accuracy by the group of the name, and how often it says `place`, in percent.

    Both stand for groups of FEWEST questions alone.
    """
    answers = results[0].pretrained
    members = {group: answers.group == group for group in dict.fromkeys(answers.group) if group}

    rows = [
        ("dev questions", *(of.sum() for of in members.values())),
        (f"gold is {place}", *shares(answers.gold == place, members.values())),
    ]
    for result in results:
        rows.append((f"{result.variant}: right", *shares(result.pretrained.correct == 1, members.values())))
        rows.append(
            (f"{result.variant}: says {place}", *shares(result.pretrained.predicted == place, members.values()))
        )
    return table(("names", *members), rows, right=[*members])


def distance_table(results: Sequence[Result]) -> Markdown:
    """Return each pretrained variant's accuracy by the distance of the place from the title, and its slope."""
    distances = results[0].pretrained.distance
    known = ~np.isnan(distances)
    classes = np.digitize(distances, [*DISTANCES.values()]) - 1  # (N,); those not known are in the last one
    members = [known & (classes == number) for number in range(len(DISTANCES))]
    rows = [("dev questions", *(of.sum() for of in members), "")]
    for result in results:
        of_classes = shares(result.pretrained.correct, members)
        rows.append((result.variant, *of_classes, f"{100 * slopes(result).mean():+.1f}"))
    header = ("characters between title and place", *DISTANCES, "points for 10 more")
    return table(header, rows, right=header[1:])


def shares(marks: Any, groups: Iterable[Any], fewest: int = FEWEST) -> list[str]:
    """Return the mean of marks (N, …) in percent of each of the groups (N,) of questions, a dash for one with fewer."""
    return [percent(marks[group].mean()) if group.sum() >= fewest else "–" for group in groups]


def claim(results: Sequence[Result]) -> list[Difference]:
    """Compare the slopes of the two variants of CLAIM, where both are there."""
    by_variant: dict[str, Any] = {result.variant: slopes(result) for result in results}
    return compare_trainings(by_variant, [CLAIM]) if by_variant.keys() >= {*CLAIM} else []


def slopes(result: Result) -> npt.NDArray[np.float64]:
    """Return numbers (N, seeds) whose mean is the slope of accuracy against distance, for 10 characters.

    A least-squares slope is a sum over the questions, so it is compared as an accuracy is.
    """
    answers = result.pretrained
    known = ~np.isnan(answers.distance)
    weights = np.zeros(len(known))
    if known.any():
        weights[known] = answers.distance[known] - answers.distance[known].mean()
    scale = (weights**2).sum() or 1.0
    return 10 * len(weights) * weights[:, None] / scale * answers.correct
