"""The paired tests of a report: which are made, and what the table has of them."""

from pathlib import Path

import pandas as pd
import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.comparisons import comparisons, comparisons_csv, comparisons_table
from stages.system.errors import StudyError
from tests.reporting.example import PLACES, Correct, write_variant


def results(folder: Path, right: dict[str, Correct]) -> list[Result]:
    for name, marks in right.items():
        write_variant(folder, name, [[0] * len(marks[0])] * len(marks), marks, curve_rows=2)
    return [summarise(read_evaluation(folder / name), len(marks[0])) for name, marks in right.items()]


def first(hits: int, questions: int = 50) -> Correct:
    return [[1] * hits + [0] * (questions - hits)]


def test_each_variant_meets_itself_from_scratch_the_constant_and_every_other(tmp_path: Path) -> None:
    compared = comparisons(results(tmp_path, {"rope": first(40), "vanilla": first(36)}), PLACES[3])
    assert [(first, second, found.points) for first, second, found in compared] == [
        ("rope", "rope from scratch", 80.0),
        ("vanilla", "vanilla from scratch", 72.0),
        ("rope", f"always {PLACES[3]}", 70.0),  # the place of every tenth question
        ("vanilla", f"always {PLACES[3]}", 62.0),
        ("rope", "vanilla", 8.0),
    ]
    assert compared[-1].found.p == pytest.approx(2 / 2**4)  # 4 questions, all one way
    assert compared[-1].found.significant == "no"


def test_table_and_file_have_the_same_figures(tmp_path: Path) -> None:
    both = results(tmp_path, {"rope": first(40), "vanilla": first(36)})
    compared = comparisons(both, "London")
    last = comparisons_table(compared, both).splitlines()[-1]
    assert last.startswith("| rope | vanilla | +8.0 (+2.0 to +16.0) | 0.125 | 0.125 | no |")
    (tmp_path / "differences.csv").write_text(comparisons_csv(compared))
    row = pd.read_csv(tmp_path / "differences.csv").iloc[-1]
    assert row.tolist() == ["rope", "vanilla", 8.0, 2.0, 16.0, 0.125, 0.125, "no"]


@pytest.mark.parametrize(("variants", "rows"), [(1, 2), (4, 14), (14, 41)])
def test_a_long_table_keeps_scratch_the_constant_and_the_best(tmp_path: Path, variants: int, rows: int) -> None:
    several = results(tmp_path, {f"v{number}": first(40 - number) for number in range(variants)})
    compared = comparisons(several, "London")
    assert len(compared) == 2 * variants + variants * (variants - 1) // 2
    assert len(comparisons_table(compared, several).splitlines()) == 2 + rows


def test_variants_that_know_nothing_do_not_differ(tmp_path: Path) -> None:
    compared = comparisons(results(tmp_path, {"rope": first(0), "vanilla": first(0)}), "London")
    assert {found.significant for *_, found in compared} == {"no"}


def test_other_questions_are_refused(tmp_path: Path) -> None:
    both = results(tmp_path, {"rope": first(4, 10), "vanilla": first(4, 10)})
    path = tmp_path / "vanilla" / "predictions.tsv"
    path.write_text(path.read_text().replace("Genoa", "Milan"))
    both[1] = summarise(read_evaluation(tmp_path / "vanilla"), 10)
    with pytest.raises(StudyError, match="rope and vanilla answered different dev questions"):
        comparisons(both, "London")
