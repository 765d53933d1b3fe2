"""The report's section on whose answers are wrong: by how often the place is trained, and what is said in its stead."""

from collections.abc import Sequence

import numpy as np

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.sections.failures import COLUMNS
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

CLASSES = {"0": 0, "1": 1, "2 to 5": 2, "more": 6}  # heading: the least number of training questions
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
        of_classes = [right[classes == number] for number in range(len(CLASSES))]
        rows.append((name, *(percent(marks.mean()) if len(marks) else "–" for marks in of_classes)))
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
