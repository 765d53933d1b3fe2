"""The report's section on errors: about which places, and whether their probability shows them."""

from collections.abc import Sequence
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, PagePart, fill, percent, table
from stages.reporting.metrics import Result
from stages.reporting.statistics import Marks

TRAINED = {"never": 0, "once": 1, "2 to 5 times": 2, "more often": 6}  # heading: the least number of training questions
MOST_WRONG = (2, 5)  # percent of the given answers

Array = npt.NDArray[np.float64]


def errors_part(results: Sequence[Result], baseline: Baseline) -> PagePart:
    """Return the section on the pretrained answers of `results`, best first; it names no place but the baseline's."""
    text = fill(
        __file__,
        "errors.md.jinja",
        questions_table=questions_table(results, baseline.place),
        risk_table=risk_table(results, baseline.place),
        place=baseline.place,
        most_wrong=MOST_WRONG,
    )
    return PagePart(text)


def questions_table(results: Sequence[Result], place: str) -> Markdown:
    """Return the accuracy of each pretrained variant and baseline on groups of dev questions, counted in the first row.

    Groups: how many training questions have the same gold answer, and where the reader or the rule is wrong though the
    page has the answer; the last column is how often the rule's answer is given there. place: the constant answer. A
    group without a question has no column.
    """
    asked = results[0].pretrained.asked
    said = {result.variant: result.pretrained.predicted for result in results}  # (N, seeds)
    said |= {f"the {name}": asked[[name]].to_numpy(str) for name in ("reader", "rule")}
    said[f"always {place}"] = np.full((len(asked), 1), place)

    trained = pd.cut(asked.training_questions, [*TRAINED.values(), np.inf], right=False, labels=[*TRAINED])
    groups = {name: (trained == name).to_numpy() for name in TRAINED}
    in_page = asked.row.isin(results[0].evaluation.extraction.row)
    groups |= {f"the {name} errs": ((asked[name] != asked.gold) & in_page).to_numpy() for name in ("reader", "rule")}
    rule_errs = groups["the rule errs"]
    groups = {name: members for name, members in groups.items() if members.any()}

    gold, rule = asked[["gold"]].to_numpy(str), asked[["rule"]].to_numpy(str)
    rows: list[tuple[object, ...]] = [("dev questions", *(members.sum() for members in groups.values()))]
    rows += [(name, *(percent((given == gold)[of].mean()) for of in groups.values())) for name, given in said.items()]
    header = ["answers", *groups]
    if rule_errs.any():
        same = [percent((given == rule)[rule_errs].mean()) for given in said.values()]
        rows = [(*row, cell) for row, cell in zip(rows, [rule_errs.sum(), *same], strict=True)]
        header.append("as the rule, where it errs")
    return table(header, rows, right=header[1:])


def risk_table(results: Sequence[Result], place: str) -> Markdown:
    """Return for each pretrained variant, in percent: how often it says `place`, mean probability, AUROC, coverage.

    AUROC and coverage are computed for each seed alone; the cells are the means. Where unseen names were asked, the
    last column is the share of the answers to them that answer a training question.
    """
    answered = (f"answered, ≤ {most} % wrong" for most in MOST_WRONG)
    is_asked = any((result.evaluation.origins.asked == "unseen").any() for result in results)
    of_unseen = ("training answer to an unseen name",) if is_asked else ()
    header = ("variant", f"says {place}", "mean probability", "AUROC", *answered, *of_unseen)
    rows = []
    for result in results:
        answers = result.pretrained
        by_seed = [
            (auroc(probability, correct), *(coverage(probability, correct, most) for most in MOST_WRONG))
            for probability, correct in zip(answers.probability.T, answers.correct.T, strict=True)
        ]
        shares = [(answers.predicted == place).mean(), answers.probability.mean(), *np.mean(by_seed, axis=0)]
        if is_asked:
            origin = result.evaluation.origins.query("asked == 'unseen'").origin
            shares.append((origin == "training_answer").mean())
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
