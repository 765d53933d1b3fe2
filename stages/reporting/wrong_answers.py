"""Which questions are answered wrongly, in which way, and whether the probability of an answer shows it."""

from collections.abc import Sequence
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.accuracies import given_answers
from stages.reporting.evaluations import Evaluation
from stages.reporting.markdown import Markdown, percent, shares_table, table
from stages.reporting.statistics import Marks

TRAINED = {"never": 0, "once": 1, "2 to 5 times": 2, "more often": 6}  # heading: the least number of training questions
MOST_WRONG = (2, 5)  # percent of the given answers
# origin: heading, of answers that stand in no page of the name
ELSEWHERE = {"training_answer": "training answer", "corpus": "other page", "hallucination": "nowhere", "empty": "empty"}
ERROR_KINDS = {
    "correct": "correct",
    "own_page": "choice",
    "retrieval": "retrieval",
    **ELSEWHERE,
    "lacks": "page lacks it",
}

Array = npt.NDArray[np.float64]


def kinds_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the shares of each pretrained variant's answers to dev by their kind, in percent, all seeds together.

    Where the own page has the right answer, an error is one of choice or of retrieval; further columns part the latter.
    """
    rows = {}
    for evaluation in evaluations:
        origins = evaluation.origins.query("asked == 'dev' and init == 'pretrained'")
        has_answer = origins.row.isin(evaluation.extraction.row)
        kind = origins.origin.where(has_answer | (origins.origin == "correct"), "lacks")
        rows[evaluation.variant] = {title: (kind == name).mean() for name, title in ERROR_KINDS.items()}
        rows[evaluation.variant]["retrieval"] = kind.isin(ELSEWHERE).mean()
    return shares_table("variant", rows)


def questions_table(evaluations: Sequence[Evaluation], place: str) -> Markdown:
    """Return the accuracy of each pretrained variant and baseline on groups of dev questions, counted in the first row.

    Groups: how many training questions have the same gold answer, and where the reader or the rule is wrong though the
    page has the answer; the last column is how often the rule's answer is given there. place: the constant answer. A
    group without a question has no column.
    """
    asked = evaluations[0].pretrained.asked
    given = given_answers(evaluations, "reader", "rule")
    given[f"always {place}"] = np.full_like(given["the reader"], place, dtype=object)

    trained = pd.cut(asked.training_questions, [*TRAINED.values(), np.inf], right=False, labels=[*TRAINED])
    groups = {name: (trained == name).to_numpy() for name in TRAINED}
    in_page = asked.row.isin(evaluations[0].extraction.row)
    groups |= {f"the {name} errs": ((asked[name] != asked.gold) & in_page).to_numpy() for name in ("reader", "rule")}
    rule_errs = groups["the rule errs"]
    groups = {name: members for name, members in groups.items() if members.any()}

    gold = asked[["gold"]].to_numpy(str)
    rows: list[tuple[object, ...]] = [("dev questions", *(members.sum() for members in groups.values()))]
    rows += [
        (name, *(percent((answers == gold)[of].mean()) for of in groups.values())) for name, answers in given.items()
    ]
    header = ["answers", *groups]
    if rule_errs.any():
        same = [percent((answers == given["the rule"])[rule_errs].mean()) for answers in given.values()]
        rows = [(*row, cell) for row, cell in zip(rows, [rule_errs.sum(), *same], strict=True)]
        header.append("as the rule, where it errs")
    return table(header, rows)


def risk_table(evaluations: Sequence[Evaluation], place: str) -> Markdown:
    """Return for each pretrained variant, in percent: how often it says `place`, mean probability, AUROC, coverage.

    AUROC and coverage are computed for each seed alone; the cells are the means. Where unseen names were asked, the
    last column is the share of the answers to them that answer a training question.
    """
    rows = {}
    for evaluation in evaluations:
        answers = evaluation.pretrained
        seeds = [*zip(answers.probability.T, answers.correct.T, strict=True)]
        shares = {f"says {place}": (answers.predicted == place).mean(), "mean probability": answers.probability.mean()}
        shares["AUROC"] = np.mean([auroc(*seed) for seed in seeds])
        for most in MOST_WRONG:
            shares[f"answered, ≤ {most} % wrong"] = np.mean([coverage(*seed, most) for seed in seeds])
        of_unseen = evaluation.origins.query("asked == 'unseen'").origin
        if len(of_unseen):
            shares["training answer to an unseen name"] = (of_unseen == "training_answer").mean()
        rows[evaluation.variant] = shares
    return shares_table("variant", rows)


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
