"""The report's section that compares the variants with each other."""

from collections.abc import Sequence
from itertools import combinations

from stages.reporting.metrics import Result
from stages.reporting.statistics.significance import Difference, compare_trainings
from stages.reporting.template import Part, fill

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs


def comparisons_part(results: Sequence[Result], reference: str) -> Part | None:
    """Return the section on `results`, best first; many are compared with `reference` alone. None with one variant."""
    differences = between_variants(results, reference)
    if not differences:
        return None
    reference = reference if len(results) > ALL_PAIRS else ""
    is_tested = any(pair.is_tested for pair in differences)
    values = {"differences": differences, "reference": reference, "is_tested": is_tested}
    return Part(fill(__file__, "comparisons.md.jinja", **values))


def between_variants(results: Sequence[Result], reference: str) -> list[Difference]:
    """Compare all pairs of variants, the better one first; if they are many, the pairs with `reference`."""
    names = [result.variant for result in results]
    pairs = [pair for pair in combinations(names, 2) if len(names) <= ALL_PAIRS or reference in pair]
    return compare_trainings({result.variant: result.pretrained.correct for result in results}, pairs)
