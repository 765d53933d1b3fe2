"""The comparisons of a report: which are made, and what its tables have of them."""

from pathlib import Path

import pytest

from stages.reporting.metrics import Result
from stages.reporting.sections.first_screen import between_variants, comparisons_part
from tests.support.example import evaluated
from tests.support.pages import cells


def results(folder: Path, right: dict[str, int], seeds: int = 1) -> list[Result]:
    """Variants that answer the first so many of 50 questions."""
    marks = {name: [[1] * hits + [0] * (50 - hits)] * seeds for name, hits in right.items()}
    return [evaluated(folder, name, [[0] * 50] * seeds, rows, curve_rows=2) for name, rows in marks.items()]


def test_the_table_has_differences_and_columns_of_a_test_where_there_is_one(tmp_path: Path) -> None:
    right = {"rope": 40, "vanilla": 36}
    part = comparisons_part(results(tmp_path, right), "vanilla")
    assert part is not None
    assert cells(part.text, "rope", "vanilla") == [["+8.0 (+0.4 to +15.6)"]]  # 1.96 √(0.08 · 0.92 / 49)
    part = comparisons_part(results(tmp_path, right, seeds=3), "vanilla")
    assert part is not None
    ((_, p, corrected_p, is_significant),) = cells(part.text, "rope", "vanilla")
    assert p == corrected_p and is_significant == "no"  # three seeds have two degrees of freedom
    assert comparisons_part(results(tmp_path, {"rope": 40}), "rope") is None


@pytest.mark.parametrize(("variants", "pairs"), [(4, 6), (5, 10), (6, 5), (14, 13)])
def test_many_variants_are_compared_with_one_that_their_answers_do_not_choose(
    tmp_path: Path, variants: int, pairs: int
) -> None:
    several = results(tmp_path, {f"v{number}": 40 - number for number in range(variants)}, seeds=3)
    differences = between_variants(several, "v3")
    assert len(differences) == pairs
    assert variants < 6 or all("v3" in (pair.first, pair.second) and pair.points >= 0 for pair in differences)
