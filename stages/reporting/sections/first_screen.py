"""The report's first screen: how much is answered, what is memorised and extracted, and which kinds of errors."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, PagePart, fill, percent, table
from stages.reporting.metrics import Result
from stages.reporting.statistics import Difference, compare_trainings, wilson

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs
# origin: heading, of answers that stand in no page of the name
ELSEWHERE = {"training_answer": "training answer", "corpus": "other page", "hallucination": "nowhere", "empty": "empty"}
MOST_FORMS = 12  # have a row of their own
OTHER_FORM = "another form"
KINDS = {"correct": "correct", "own_page": "choice", "retrieval": "retrieval", **ELSEWHERE, "lacks": "page lacks it"}


def comparisons_part(results: Sequence[Result], reference: str) -> PagePart | None:
    """Return the section on `results`, best first; many are compared with `reference` alone. None with one variant."""
    differences = between_variants(results, reference)
    if not differences:
        return None
    reference = reference if len(results) > ALL_PAIRS else ""
    is_tested = any(pair.is_tested for pair in differences)
    values = {"differences": differences, "reference": reference, "is_tested": is_tested}
    return PagePart(fill(__file__, "comparisons.md.jinja", **values))


def between_variants(results: Sequence[Result], reference: str) -> list[Difference]:
    """Compare all pairs of variants, the better one first; if they are many, the pairs with `reference`."""
    names = [result.variant for result in results]
    pairs = [pair for pair in combinations(names, 2) if len(names) <= ALL_PAIRS or reference in pair]
    return compare_trainings({result.variant: result.pretrained.correct for result in results}, pairs)


def first_screen(results: Sequence[Result], baseline: Baseline, show_forms: bool) -> Markdown:
    """Return the tables on `results`, best first, below the figure of accuracies; no question is shown.

    show_forms: whether forms of questions may be, where there are several.
    """
    seeds = [len(result.pretrained.by_seed) for result in results]
    return fill(
        __file__,
        "first_screen.md.jinja",
        answers_table=answers_table(results, baseline),
        forms_table=forms_table(results) if show_forms else "",
        memorised_table=memorised_table(results),
        kinds_table=kinds_table(results),
        facts=results[0].evaluation.extraction.row.nunique(),
        seeds=min(seeds),
        most_seeds=max(seeds),
    )


def answers_table(results: Sequence[Result], baseline: Baseline) -> Markdown:
    """Return accuracies with intervals, and how often the reader's answer is given, in percent; the ceiling is last."""
    is_marked = any(result.test for result in results)  # whether the data have answers to test
    header = ("answers", "pretrained", "from scratch", *(["test"] if is_marked else []), "as the reader")
    asked = results[0].pretrained.asked

    def like_reader(answers: npt.NDArray[np.str_]) -> str:
        return percent((answers == asked.reader.to_numpy(str)[:, None]).mean())

    rows: list[tuple[str, ...]] = []
    for result in results:
        test = [result.test.shown() if result.test else ""] if is_marked else []
        shown = (result.pretrained.shown(), result.scratch.shown(), *test)
        rows.append((result.variant, *shown, like_reader(result.pretrained.predicted)))
    blank = [""] * (len(header) - 3)
    constant = [baseline.place] * len(asked)
    for name, accuracy, answers in (
        ("the reader", baseline.reader_accuracy, asked.reader),
        ("the rule", baseline.rule_accuracy, asked.rule),
        ("the letters", baseline.letters_accuracy, asked.letters),
        (f"always {baseline.place}", baseline.dev_accuracy, constant),
    ):
        low, high = wilson(accuracy / 100, baseline.dev_questions)
        cell = f"{accuracy:.1f} ({percent(low)} to {percent(high)})"
        rows.append((name, cell, *blank, like_reader(np.array(answers, str)[:, None])))
    rows.append(("ceiling", f"{baseline.ceiling:.1f}", *blank, ""))
    return table(header, rows, right=header[1:])


def forms_table(results: Sequence[Result]) -> Markdown:
    """Return the accuracy of each pretrained variant and of reader and rule by form of question; empty with one form.

    The commonest forms have a row each, with how many dev questions have it.
    """
    asked = results[0].pretrained.asked
    common = [form for form, _ in Counter(asked.form[asked.form != ""]).most_common(MOST_FORMS)]
    form = asked.form.where(asked.form.isin(common), OTHER_FORM)
    said = {result.variant: result.pretrained.correct for result in results}  # (N, seeds)
    said |= {f"the {name}": (asked[[name]].to_numpy() == asked[["gold"]].to_numpy()) for name in ("reader", "rule")}
    rows = []
    for name in [*common, OTHER_FORM]:
        members = (form == name).to_numpy()
        if members.any():
            rows.append((name, members.sum(), *(percent(right[members].mean()) for right in said.values())))
    header = ("form", "dev questions", *said)
    return table(header, rows, right=header[1:]) if len(rows) > 1 else Markdown()


def memorised_table(results: Sequence[Result]) -> Markdown:
    """Return the shares of the facts that each variant has memorised and extracts, in percent, all seeds together."""
    header = ("variant", "memorised", "extracted", "extracted of memorised")
    rows = []
    for result in results:
        facts = result.evaluation.extraction
        of_memorised = facts[facts.pretrained_memorised == 1].finetuned_extracted.mean()
        shares = (facts.pretrained_memorised.mean(), facts.finetuned_extracted.mean(), of_memorised)
        rows.append((result.variant, *map(percent, shares)))
    return table(header, rows, right=header[1:])


def kinds_table(results: Sequence[Result]) -> Markdown:
    """Return the shares of each pretrained variant's answers to dev by their kind, in percent, all seeds together.

    Where the own page has the right answer, an error is one of choice or of retrieval; further columns part the latter.
    """
    rows = []
    for result in results:
        origins = result.evaluation.origins.query("asked == 'dev' and init == 'pretrained'")
        has_answer = origins.row.isin(result.evaluation.extraction.row)
        kind = origins.origin.where(has_answer | (origins.origin == "correct"), "lacks")
        shares = {name: (kind == name).mean() for name in KINDS} | {"retrieval": kind.isin(ELSEWHERE).mean()}
        rows.append((result.variant, *map(percent, shares.values())))
    return table(("variant", *KINDS.values()), rows, right=[*KINDS.values()])
