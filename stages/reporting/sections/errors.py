"""The report's section on errors: of which kind, about which places, and whether their probability shows them."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.intervals import Marks
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

# origin: heading, of answers that stand in no page of the name
ELSEWHERE = {"training_answer": "training answer", "corpus": "other page", "hallucination": "nowhere", "empty": "empty"}
CLASSES = {"0": 0, "1": 1, "2 to 5": 2, "more": 6}  # heading: the least number of training questions
MOST_WRONG = (2, 5)  # percent of the given answers

Array = npt.NDArray[np.float64]


def errors_part(results: Sequence[Result], baseline: Baseline) -> Part:
    """Return the section on the pretrained answers of `results`, best first; it names no place but the baseline's."""
    origins = results[0].evaluation.origins
    text = fill(
        __file__,
        "errors.md.jinja",
        kinds_table=kinds_table(results),
        frequency_table=frequency_table(results, baseline.place),
        risk_table=risk_table(results, baseline.place),
        unseen_table=unseen_table(results),
        unseen=origins[origins.asked == "unseen"].row.nunique(),
        place=baseline.place,
        most_wrong=MOST_WRONG,
    )
    return Part(text)


def kinds_table(results: Sequence[Result]) -> Markdown:
    """Return the shares of each pretrained variant's answers to dev by their kind, in percent, all seeds together.

    Where the own page has the right answer, an error is one of choice or of retrieval, which the columns after it part.
    """
    kinds = {
        "correct": "correct",
        "own_page": "choice",
        "retrieval": "retrieval",
        **ELSEWHERE,
        "lacks": "page lacks it",
    }
    rows = []
    for result in results:
        origins = result.evaluation.origins.query("asked == 'dev' and init == 'pretrained'")
        has_answer = origins.row.isin(result.evaluation.extraction.row)
        kind = origins.origin.where(has_answer | (origins.origin == "correct"), "lacks")
        shares = {name: (kind == name).mean() for name in kinds} | {"retrieval": kind.isin(ELSEWHERE).mean()}
        rows.append((result.variant, *map(percent, shares.values())))
    header = ("variant", *(f"{heading}, %" for heading in kinds.values()))
    return table(header, rows, right=header[1:])


def unseen_table(results: Sequence[Result]) -> Markdown:
    """Return the shares of each variant's answers to unseen names by their origin, in percent, all seeds together."""
    rows = []
    for result in results:
        origin = result.evaluation.origins.query("asked == 'unseen'").origin
        rows.append((result.variant, *(percent((origin == name).mean()) for name in ELSEWHERE)))
    header = ("variant", *(f"{heading}, %" for heading in ELSEWHERE.values()))
    return table(header, rows, right=header[1:])


def frequency_table(results: Sequence[Result], place: str) -> Markdown:
    """Return each pretrained variant's accuracy by how many training questions have the same gold answer.

    place: the constant answer, which the last row gives to each question. A class without a question has no column.
    """
    asked = results[0].pretrained.asked
    correct: dict[str, Any] = {result.variant: result.pretrained.correct for result in results}
    correct["the reader"] = (asked.reader == asked.gold).to_numpy()
    correct[f"always {place}"] = (asked.gold == place).to_numpy()

    class_of = pd.cut(asked.training_questions, [*CLASSES.values(), np.inf], right=False, labels=[*CLASSES])
    members = {name: (class_of == name).to_numpy() for name in CLASSES if (class_of == name).any()}
    rows: list[tuple[object, ...]] = [("dev questions", *(chosen.sum() for chosen in members.values()))]
    rows += [(name, *(percent(marks[of].mean()) for of in members.values())) for name, marks in correct.items()]
    return table(("training questions", *members), rows, right=[*members])


def risk_table(results: Sequence[Result], place: str) -> Markdown:
    """Return for each pretrained variant, in percent: how often it says `place`, mean probability, AUROC, coverage.

    AUROC and coverage are computed for each seed alone; the cells are the means.
    """
    answered = (f"answered, ≤ {most} % wrong, %" for most in MOST_WRONG)
    header = ("variant", f"says {place}, %", "mean probability, %", "AUROC, %", *answered)
    rows = []
    for result in results:
        answers = result.pretrained
        by_seed = [
            (auroc(probability, correct), *(coverage(probability, correct, most) for most in MOST_WRONG))
            for probability, correct in zip(answers.probability.T, answers.correct.T, strict=True)
        ]
        shares = ((answers.predicted == place).mean(), answers.probability.mean(), *np.mean(by_seed, axis=0))
        rows.append((result.variant, *map(percent, shares)))
    return table(header, rows, right=header[1:])


def auroc(probability: Array, correct: Marks) -> float:
    """Return the share of pairs of a right and a wrong answer in which the right one is the more probable.

    A tie counts one half. NaN without a right or without a wrong answer. `probability` and `correct`: (N,). The area
    under the ROC curve by ranks: Hanley & McNeil 1982 (Radiology).
    """
    right, wrong = probability[correct == 1], probability[correct == 0]
    if not len(right) or not len(wrong):
        return nan
    return float(stats.mannwhitneyu(right, wrong, method="asymptotic").statistic / (len(right) * len(wrong)))


def coverage(probability: Array, correct: Marks, most_wrong: int) -> float:
    """Return the largest share of surest answers of which at most `most_wrong` percent are wrong; 0 without one.

    A threshold gives answers of equal probability together or not at all. `probability` and `correct`: (N,), N > 0.
    """
    surest_first = np.argsort(-probability)
    given = np.arange(1, len(probability) + 1)
    wrong = np.cumsum(correct[surest_first] == 0)

    is_threshold = np.append(np.diff(probability[surest_first]) < 0, True)
    allowed = is_threshold & (100 * wrong <= most_wrong * given)
    return float(given[allowed].max(initial=0) / len(probability))
