"""The paired tests of a report: which are made, and what the table has of them."""

import io
from pathlib import Path

import pandas as pd

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.comparisons import comparisons, comparisons_csv, comparisons_table
from tests.reporting.example import PLACES, write_variant


def results(folder: Path, right: dict[str, int]) -> list[Result]:
    """Variants of one seed that answer the first so many of 50 questions."""
    for name, hits in right.items():
        write_variant(folder, name, [[0] * 50], [[1] * hits + [0] * (50 - hits)], curve_rows=2)
    return [summarise(read_evaluation(folder / name), 50) for name in right]


def test_each_variant_meets_itself_from_scratch_the_constant_and_every_other(tmp_path: Path) -> None:
    both = results(tmp_path, {"rope": 40, "vanilla": 36})
    compared = comparisons(both, PLACES[3])
    assert [(each.first, each.second, each.points) for each in compared] == [
        ("rope", "rope from scratch", 80.0),
        ("vanilla", "vanilla from scratch", 72.0),
        ("rope", f"always {PLACES[3]}", 70.0),  # the place of every tenth question
        ("vanilla", f"always {PLACES[3]}", 62.0),
        ("rope", "vanilla", 8.0),
    ]
    last = comparisons_table(compared, both).splitlines()[-1]  # 4 questions, all one way: 2 / 2^4
    assert last.startswith("| rope | vanilla | +8.0 (+2.0 to +16.0) | 0.125 | 0.125 | no |")
    row = pd.read_csv(io.StringIO(comparisons_csv(compared))).iloc[-1]
    assert row.tolist() == ["rope", "vanilla", 8.0, 2.0, 16.0, 0.125, 0.125, "no"]


def test_a_pair_is_compared_by_its_first_seeds_as_many_as_both_have(tmp_path: Path) -> None:
    single = results(tmp_path, {"vanilla": 36})
    right = [1] * 40 + [0] * 10
    write_variant(tmp_path, "rope", [right, [1] * 50, [1] * 50], [right, [0] * 50, [0] * 50], curve_rows=2)
    both = [summarise(read_evaluation(tmp_path / "rope"), 50), *single]
    found = {(each.first, each.second): each.points for each in comparisons(both, PLACES[3])}
    assert found["rope", "vanilla"] == 8.0
    assert found["rope", "rope from scratch"] == -66.67  # two of three seeds know nothing, from scratch all
    assert found["rope", f"always {PLACES[3]}"] == 16.67  # 40 / 150 - 5 / 50


def test_a_long_table_keeps_the_best_against_each_other_variant(tmp_path: Path) -> None:
    several = results(tmp_path, {f"v{number}": 40 - number for number in range(14)})
    compared = comparisons(several, "London")
    assert len(compared) == 2 * 14 + 14 * 13 // 2
    assert len(comparisons_table(compared, several).splitlines()) == 2 + 13
