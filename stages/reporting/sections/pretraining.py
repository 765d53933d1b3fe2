"""The report's section on what pretraining added: questions gained and lost, and how far seeds agree."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from stages.reporting.answers import Answers, Marks
from stages.reporting.markdown import Markdown, listed, table
from stages.reporting.metrics import Result
from stages.reporting.sections.pretraining_figure import pretraining_svg
from stages.reporting.statistics.significance import (
    Difference,
    Sample,
    compare_pairs,
    paired,
    shown_p,
    shown_points,
    told_apart,
)
from stages.reporting.template import Part, fill

TEMPLATE = "pretraining.md.jinja"
FEW_VARIANTS = 4  # up to here each has two examples of a kind, beyond one
ROWS = 5  # numbers of rows where questions are not shown


@dataclass(frozen=True)
class Agreement:
    """How many questions all seeds, some seeds and no seed answered right."""

    every: int
    some: int
    none: int


@dataclass(frozen=True, eq=False)
class Change:
    """What pretraining changed for a variant: the questions, as places in 0…N-1, that more seeds answer right than
    from scratch (gained) or fewer (lost)."""

    variant: str
    scratch: Answers
    pretrained: Answers
    gained: npt.NDArray[np.intp]
    lost: npt.NDArray[np.intp]
    agreement: Agreement
    found: Difference


def pretraining_part(changed: Sequence[Change], show_questions: bool) -> Part:
    """The section made from `changes`, best first; without `show_questions` it names rows and nothing of the data."""
    seeds = len(changed[0].pretrained.seeds)
    text = fill(
        TEMPLATE,
        sentences=sentences(changed),
        changes_table=changes_table(changed, seeds),
        seeds=seeds,
        tests=len(changed),
        show_questions=show_questions,
        first_seed=changed[0].pretrained.seeds[0],
        examples=examples(changed) if show_questions else row_numbers(changed),
    )
    agreed = {each.variant: astuple(each.agreement) for each in changed if seeds > 1}
    picture = pretraining_svg({each.variant: (len(each.gained), len(each.lost)) for each in changed}, agreed)
    return Part(text, {"pretraining.svg": picture})


def changes(results: Sequence[Result]) -> list[Change]:
    """Return the change of each of the `results`, in their order; Holm corrects over all of them."""
    answers = [(result.variant, result.answers["scratch"], result.answers["pretrained"]) for result in results]
    found = compare_pairs(
        [(Sample(name, after.correct), Sample(f"{name} scratch", before.correct)) for name, before, after in answers]
    )
    changed = []
    for (name, before, after), difference in zip(answers, found, strict=True):
        by_question = paired(after.correct, before.correct)
        gained, lost = np.flatnonzero(by_question > 0), np.flatnonzero(by_question < 0)
        changed.append(Change(name, before, after, gained, lost, agreement(after.correct), difference))
    return changed


def agreement(correct: Marks) -> Agreement:
    """Return how many of the questions of `correct` (N, seeds) all, some and no seeds answered right."""
    hits = correct.sum(axis=1)
    every, none = int((hits == correct.shape[1]).sum()), int((hits == 0).sum())
    return Agreement(every, len(hits) - every - none, none)


def by_chance(correct: Marks) -> float:
    """Return how many questions all seeds would answer right if each seed's right answers fell on any question."""
    return float(len(correct) * np.prod(correct.mean(axis=0)))


def changes_table(changed: Sequence[Change], seeds: int) -> Markdown:
    """Return the table of gained and lost questions, with the seeds' agreement where there are several."""
    header = ["variant", "gained", "lost", "points (95 % interval)", "p", "corrected p"]
    if seeds > 1:
        header += ["right by all seeds", "by some", "by none"]
    rows: list[list[object]] = []
    for each in changed:
        found, agreed = each.found, each.agreement
        row: list[object] = [each.variant, len(each.gained), len(each.lost), shown_points(found)]
        row += [shown_p(found.p), shown_p(found.corrected)]
        rows.append(row + ([agreed.every, agreed.some, agreed.none] if seeds > 1 else []))
    return table(header, rows, right=header[1:])


def examples(changed: Sequence[Change]) -> Markdown:
    """Return a table of the first questions that the first seed gained and lost, variant by variant."""
    limit = 2 if len(changed) <= FEW_VARIANTS else 1
    rows = []
    for each in changed:
        for kind, places in zip(("gained", "lost"), of_first_seed(each), strict=True):
            for place in places[:limit]:
                before, after = each.scratch.predicted[place], each.pretrained.predicted[place]
                rows.append(
                    (
                        each.variant,
                        kind,
                        each.pretrained.rows[place],
                        each.pretrained.question[place],
                        before or Markdown("*nothing*"),
                        after or Markdown("*nothing*"),
                        each.pretrained.gold[place],
                    )
                )
    header = ("variant", "", "row", "question", "from scratch", "pretrained", "gold")
    return table(header, rows, right=("row",)) if rows else Markdown("")


def row_numbers(changed: Sequence[Change]) -> Markdown:
    """Return a table of the first rows that the first seed gained and lost, variant by variant."""
    rows = [
        (
            each.variant,
            *(", ".join(map(str, each.pretrained.rows[places[:ROWS]])) or "–" for places in of_first_seed(each)),
        )
        for each in changed
    ]
    return table(("variant", "gained rows", "lost rows"), rows)


def of_first_seed(change: Change) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the places of the questions that the first seed gained and lost, in the order of the rows."""
    step = change.pretrained.correct[:, 0] - change.scratch.correct[:, 0]
    return np.flatnonzero(step > 0), np.flatnonzero(step < 0)


def sentences(changed: Sequence[Change]) -> Markdown:
    """Return what pretraining changed, over all variants and for the first, and how far the first's seeds agree."""
    found = told_apart({each.variant: each.found for each in changed})
    parts = []
    if found.better:
        which = _which(found.better, len(changed))
        parts.append(f"pretraining adds right answers, more than chance would, for {which}")
    if found.worse:
        which = _which(found.worse, len(changed))
        parts.append(f"{'it' if parts else 'pretraining'} takes right answers away for {which}")
    if found.alike:
        what = "no change is shown" if parts else "no change by pretraining is shown"
        parts.append(f"{what} for {_which(found.alike, len(changed), 'any')}")
    joined = "; ".join(parts)
    first = f"{joined[0].upper()}{joined[1:]}"
    best = changed[0]
    counts = f"gains {_questions(len(best.gained))} and loses {len(best.lost) or 'none'}."
    said = [f"{first}, which {counts}"]
    if len(changed) > 1:
        said = [f"{first}.", f"The best, {listed([best.variant])}, {counts}"]
    seeds = len(best.pretrained.seeds)
    if seeds > 1 and best.pretrained.correct.any():
        agreed, chance = best.agreement, by_chance(best.pretrained.correct)
        every, some, none = ("Both", "one", "neither") if seeds == 2 else (f"All {seeds}", "some but not all", "none")
        said.append(
            f"{every} of its seeds are right for {_questions(agreed.every)}, {some} for {agreed.some}, "
            f"{none} for {agreed.none}; if each seed's right answers fell on questions at random, "
            f"all would be right for {_questions(round(chance))}."
        )
    return Markdown(" ".join(said))


def _questions(count: int) -> str:
    return {0: "no question", 1: "1 question"}.get(count, f"{count:,} questions")


def _which(names: Sequence[str], total: int, every: str = "every") -> Markdown:
    return Markdown(f"{every} variant") if len(names) == total > 1 else listed(names)
