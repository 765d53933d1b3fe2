"""The comparisons of a report: which are made, and what its tables have of them."""

from pathlib import Path

import pytest

from stages.reporting.metrics import Result
from stages.reporting.sections.comparisons import between_variants, comparisons_part
from tests.support.example import evaluated


def results(folder: Path, right: dict[str, int], seeds: int = 1) -> list[Result]:
    """Variants that answer the first so many of 50 questions; the reader knows every other question."""
    marks = {name: [[1] * hits + [0] * (50 - hits)] * seeds for name, hits in right.items()}
    return [evaluated(folder, name, [[0] * 50] * seeds, rows, curve_rows=2) for name, rows in marks.items()]


def test_the_tables_have_differences_and_where_a_variant_and_the_reader_part(tmp_path: Path) -> None:
    part = comparisons_part(results(tmp_path, {"rope": 40, "vanilla": 36}), "vanilla")
    (pair,) = [line for line in part.text.splitlines() if line.startswith("| rope | vanilla |")]
    assert pair.startswith("| rope | vanilla | +8.0 (+0.4 to +15.6) | – | – | – |")  # 1.96 √(0.08 · 0.92 / 49)
    # the reader knows 20 of the 40 right ones and 5 of the 10 wrong ones; to the others it says `Nowhere`, as the model
    assert "| rope | 50.0 | 40.0 | 10.0 |" in part.text


@pytest.mark.parametrize(("variants", "pairs"), [(4, 6), (5, 10), (6, 5), (14, 13)])
def test_many_variants_are_compared_with_one_that_their_answers_do_not_choose(
    tmp_path: Path, variants: int, pairs: int
) -> None:
    several = results(tmp_path, {f"v{number}": 40 - number for number in range(variants)}, seeds=3)
    differences = between_variants(several, "v3")
    assert len(differences) == pairs
    assert variants < 6 or all("v3" in (pair.first, pair.second) and pair.points >= 0 for pair in differences)
