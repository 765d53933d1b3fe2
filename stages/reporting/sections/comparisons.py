"""The report's section that compares the variants with each other, and each with the reader."""

from collections.abc import Sequence
from itertools import combinations

from stages.reporting.metrics import Answers, Result
from stages.reporting.statistics.significance import Difference, compare_trainings
from stages.reporting.template import Part, fill

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs


def comparisons_part(results: Sequence[Result], reference: str) -> Part:
    """Return the section on `results`, best first; many variants are compared with `reference` alone."""
    text = fill(
        __file__,
        "comparisons.md.jinja",
        results=results,
        shares=beside_the_reader,
        differences=between_variants(results, reference),
        reference=reference if len(results) > ALL_PAIRS else "",
    )
    return Part(text)


def between_variants(results: Sequence[Result], reference: str) -> list[Difference]:
    """Compare all pairs of variants, the better one first; if they are many, the pairs with `reference`."""
    names = [result.variant for result in results]
    pairs = [pair for pair in combinations(names, 2) if len(names) <= ALL_PAIRS or reference in pair]
    return compare_trainings({result.variant: result.pretrained.correct for result in results}, pairs)


def beside_the_reader(answers: Answers) -> tuple[float, float, float]:
    """Return the shares of answers that are the reader's, that alone are right, and where the reader alone is."""
    same = answers.predicted == answers.asked[["reader"]].to_numpy()
    right = answers.correct == 1
    readers = (answers.asked.reader == answers.asked.gold).to_numpy()[:, None]
    return same.mean(), (right & ~readers).mean(), (~right & readers).mean()
