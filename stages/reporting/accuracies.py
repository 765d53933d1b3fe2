"""How much each variant answers, beside the baselines, and which variants differ."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stages.reporting.evaluations import Answers, Baseline, Evaluation
from stages.reporting.markdown import Markdown, estimate, percent, table
from stages.reporting.statistics import Difference, compare_trainings, wilson
from stages.reporting.style import GREY, INK, PRETRAINED, SCRATCH, rows_figure

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs
MOST_FORMS = 12  # have a row of their own
OTHER_FORM = "another form"
BEYOND = 109  # percent: where the bars' figures end, beyond all lines

Texts = npt.NDArray[np.str_]


def draw_accuracy(evaluations: Sequence[Evaluation], baseline: Baseline) -> Figure:
    """Draw the dev accuracy in percent of `evaluations`, best first, with 95 % intervals and single seeds."""
    names = [evaluation.variant for evaluation in evaluations]
    label = f"dev questions answered exactly (% of {baseline.dev_questions:,})"
    figure, axes = rows_figure(names, 1.5 + 0.45 * len(names), label)
    _bars(axes, -0.19, [evaluation.pretrained for evaluation in evaluations], PRETRAINED, "pretrained, then finetuned")
    _bars(axes, 0.19, [evaluation.scratch for evaluation in evaluations], SCRATCH, "finetuned from scratch")
    for value, name, colour, dash, width in (
        (baseline.dev_accuracy, f"always {baseline.place}", INK, (0, (3, 2)), 1.1),
        (baseline.rule_accuracy, "the rule, which sees the page", INK, (0, (8, 3)), 1.1),
        (baseline.reader_accuracy, "the reader, which sees it, too", INK, "-.", 1.1),
        (baseline.ceiling, "ceiling", GREY, ":", 1.5),
    ):
        line = f"{name}: {value:.1f} %"
        axes.axvline(value, color=colour, linestyle=dash, linewidth=width, zorder=1.5, label=line)
    axes.set_xlim(0, 110)  # a column of figures beyond the bars and lines
    axes.set_xticks(range(0, 101, 10))
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _bars(axes: Axes, offset: float, accuracies: Sequence[Answers], colour: str, label: str) -> None:
    """Draw for each row a bar, a whisker, a dot a seed and the figure."""
    heights = np.arange(len(accuracies)) + offset
    means, low, high = np.array([(answers.mean, *answers.interval) for answers in accuracies]).T
    axes.barh(heights, means, height=0.36, color=colour, zorder=2, label=label)
    whiskers = np.maximum(0, [means - low, high - means])
    axes.errorbar(means, heights, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
    look: dict[str, Any] = {
        "s": 13,
        "color": "white",
        "edgecolors": INK,
        "linewidths": 0.7,
        "zorder": 5,
        "clip_on": False,
    }
    for height, answers in zip(heights, accuracies, strict=True):
        axes.scatter(answers.by_seed, [height] * len(answers.by_seed), **look)
        axes.text(BEYOND, height, f"{answers.mean:.1f}", ha="right", va="center", fontsize=8)


def given_answers(evaluations: Sequence[Evaluation], *baselines: str) -> dict[str, Texts]:
    """Return what each pretrained variant and each of the `baselines` answers to the dev questions: (N, seeds)."""
    asked = evaluations[0].pretrained.asked
    of_variants = {evaluation.variant: evaluation.pretrained.predicted for evaluation in evaluations}
    return of_variants | {f"the {name}": asked[[name]].to_numpy(str) for name in baselines}


def answers_table(evaluations: Sequence[Evaluation], baseline: Baseline) -> Markdown:
    """Return accuracies with intervals, and how often the reader's answer is given, in percent; the ceiling is last."""
    is_marked = any(evaluation.test for evaluation in evaluations)  # whether the data have answers to test
    header = ["answers", "pretrained", "from scratch", *(["test"] if is_marked else []), "as the reader"]
    constant = f"always {baseline.place}"
    given = given_answers(evaluations, "reader", "rule", "letters")
    given[constant] = np.full_like(given["the reader"], baseline.place, dtype=object)
    like_reader = {name: percent((answers == given["the reader"]).mean()) for name, answers in given.items()}

    rows: list[tuple[str, ...]] = []
    for evaluation in evaluations:
        columns = [evaluation.pretrained, evaluation.scratch, *([evaluation.test] if is_marked else [])]
        shown = [estimate(answers.mean, answers.interval) if answers else "" for answers in columns]
        rows.append((evaluation.variant, *shown, like_reader[evaluation.variant]))
    blank = [""] * (len(header) - 3)
    for name, accuracy in (
        ("the reader", baseline.reader_accuracy),
        ("the rule", baseline.rule_accuracy),
        ("the letters", baseline.letters_accuracy),
        (constant, baseline.dev_accuracy),
    ):
        low, high = wilson(accuracy / 100, baseline.dev_questions)
        rows.append((name, estimate(accuracy, (100 * low, 100 * high)), *blank, like_reader[name]))
    rows.append(("ceiling", f"{baseline.ceiling:.1f}", *blank, ""))
    return table(header, rows)


def forms_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the accuracy of each pretrained variant and of reader and rule by form of question; empty with one form.

    The commonest forms have a row each, with how many dev questions have it.
    """
    asked = evaluations[0].pretrained.asked
    gold = asked[["gold"]].to_numpy(str)
    common = asked.form[asked.form != ""].value_counts().index[:MOST_FORMS]
    form = asked.form.where(asked.form.isin(common), OTHER_FORM)
    given = given_answers(evaluations, "reader", "rule")
    rows = []
    for name in [*common, OTHER_FORM]:
        of_form = (form == name).to_numpy()
        if of_form.any():
            shares = [percent((answers == gold)[of_form].mean()) for answers in given.values()]
            rows.append((name, of_form.sum(), *shares))
    return table(["form", "dev questions", *given], rows) if len(rows) > 1 else Markdown()


def differences_between(evaluations: Sequence[Evaluation], reference: str) -> list[Difference]:
    """Compare all pairs of variants, the better one first; if they are many, the pairs with `reference` alone."""
    names = [evaluation.variant for evaluation in evaluations]
    pairs = [pair for pair in combinations(names, 2) if len(names) <= ALL_PAIRS or reference in pair]
    return compare_trainings({evaluation.variant: evaluation.pretrained.correct for evaluation in evaluations}, pairs)
