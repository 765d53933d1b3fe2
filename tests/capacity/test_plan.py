"""The plan: rates are chosen within their grid, which grows, and nothing is trained twice."""

from pathlib import Path

import pytest

from stages.capacity import train
from stages.capacity.plan import CHOICE_SEED, ROWS, Plan
from stages.capacity.row import Cell, Row
from stages.settings import Settings
from stages.system.rows import add_row, read_rows
from tests.support.project import write_params
from tests.support.talking import Run
from tests.support.tiny import SETTINGS

PARTS = SETTINGS.capacity.parts
TWO_LOADS = PARTS.loads.model_copy(update={"loads": [0.5, 1.0]})
CAPACITY = SETTINGS.capacity.model_copy(
    update={"parts": PARTS.model_copy(update={"loads": TWO_LOADS}), "seeds": [1, 2]}
)
FEW = SETTINGS.model_copy(update={"capacity": CAPACITY, "variants": {"rope": SETTINGS.variants["rope"]}})


def row(cell: Cell, bits: float) -> Row:
    sizes = {"people": 100, "parameters": 50 * cell.width, "inner_parameters": 40 * cell.width}
    made = {"exact": 0.5, "seconds": 10.0, "commit": "c", "device": "d", "precision": "float32"}
    return Row(**cell.model_dump(), **sizes, bits_asked=1000.0, bits_stored=bits, **made)


def trained(best: float) -> list[Row]:
    """Train all that a plan asks for, where `best` is the rate that stores most."""
    rows: list[Row] = []
    while missing := Plan(FEW, rows).missing("loads"):
        rows.append(row(missing[0], 1000 - abs(missing[0].learning_rate - best)))
    return rows


@pytest.mark.parametrize(
    ("best", "tried"),
    [(0.01, [0.003, 0.01, 0.03]), (0.1, [0.003, 0.01, 0.03, 0.1, 0.3]), (0.3, [0.003, 0.01, 0.03, 0.1, 0.3])],
)
def test_the_best_rate_at_load_one_has_neighbours_on_both_sides_while_there_are_any(
    best: float, tried: list[float]
) -> None:
    rows = trained(best)
    choices = [row for row in rows if row.seed == CHOICE_SEED]  # of another world
    assert [row.learning_rate for row in choices] == tried and {row.load for row in choices} == {1}
    assert CHOICE_SEED not in CAPACITY.seeds
    cells = [row for row in rows if row.seed != CHOICE_SEED]
    assert {row.learning_rate for row in cells} == {best}
    assert [(row.seed, row.load) for row in cells] == [(1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0)]


def test_rows_of_other_settings_are_none_of_todays() -> None:
    rows = trained(0.01)
    other = FEW.model_copy(update={"capacity": CAPACITY.model_copy(update={"batch_size": 32})})
    assert Plan(FEW, rows).rows and not Plan(other, rows).rows


def test_parts_share_the_cells_that_they_have_in_common() -> None:
    rows = trained(0.01)
    of_widths = Plan(SETTINGS, rows).cells("widths")
    assert {(cell.width, cell.load, cell.exposures) for cell in of_widths} == {(32, 1.0, 100)}


def test_rows_are_kept_as_they_were_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.csv"
    rows = trained(0.01)
    for kept in rows:
        add_row(path, kept)
    assert read_rows(path, Row) == rows
    add_row(path, other := rows[0].model_copy(update={"settings": "12345678"}))  # a digest that looks like a number
    assert read_rows(path, Row)[-1] == other


def test_each_cell_is_trained_once_and_none_when_the_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run
) -> None:
    write_params(tmp_path, values={"capacity.parts.loads.loads": [0.5, 1.0], "capacity.seeds": [1, 2]})
    cells: list[Cell] = []

    def trained_at_once(_: Settings, cell: Cell, __: str) -> Row:
        assert cell not in cells  # else it would go on for ever
        cells.append(cell)
        return row(cell, 1000 - abs(cell.learning_rate - 0.01))

    monkeypatch.setattr(train, "trained", trained_at_once)
    options = "--parts", "loads", "--variants", "rope"
    assert "time is up" in run_in(tmp_path, train, *options, "--hours", "0").err and not cells
    assert run_in(tmp_path, train, *options, "--hours", "1").code == 0
    assert len({*cells}) == len(cells) == 3 + 2 * 2  # the rates at load 1, then two loads with two seeds
    assert [Cell(**known.model_dump()) for known in read_rows(tmp_path / ROWS, Row)] == cells
    assert "loads: 0 cells without a row" in run_in(tmp_path, train, *options).out and len(cells) == 7
