"""The page: its figures are those of the rows, by arithmetic of a test's own."""

from pathlib import Path

import pandas as pd
import pytest

from stages.capacity.page import at_best_rates, rates_of, to_ninety, with_interval, write_capacity
from stages.capacity.plan import Plan
from stages.capacity.row import Row
from stages.settings.measured import CapacityParts
from tests.capacity.test_plan import row
from tests.support.pages import rows_of
from tests.support.tiny import SETTINGS

BEST = 0.01


def all_rows() -> list[Row]:
    """Make rows of all cells: rope stores all that it is asked, the second seed of any other variant half of it."""
    rows: list[Row] = []
    while missing := [cell for part in CapacityParts.model_fields for cell in Plan(SETTINGS, rows).missing(part)]:
        for cell in dict.fromkeys(missing):
            share = 1.0 if cell.variant == "rope" else 0.5 + 0.1 * (cell.seed - 2)
            rows.append(row(cell, 1000 * share - abs(cell.learning_rate - BEST)))
    return rows


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capacity") / "page"
    write_capacity(folder, Plan(SETTINGS, all_rows()))
    assert (folder / "loads.svg").exists() and (folder / "index.html").exists()
    return folder


@pytest.fixture(scope="module", name="report")
def report_fixture(page: Path) -> str:
    return (page / "report.md").read_text("utf-8")


def test_shares_have_the_interval_of_three_seeds(report: str) -> None:
    first, *others = rows_of(report, "| variant | load 0.25")
    assert first[0] == "rope" and first[1].startswith("1.00")
    # 0.4, 0.5 and 0.6: s = 0.1, t(2) = 4.303, so 4.303 x 0.1 / √3 = 0.248
    assert {tuple(row[1:5]) for row in others} == {("0.50 ± 0.25",) * 4}


def test_loads_csv_has_the_shares_and_their_ends(page: Path) -> None:
    shares = pd.read_csv(page / "loads.csv").set_index(["variant", "load"])
    assert len(shares) == 14 * 4
    # the same arithmetic: 0.5 - 0.248 and 0.5 + 0.248
    assert shares.loc[("vanilla", 1.0)].tolist() == pytest.approx([0.5, 0.2516, 0.7484, 3], abs=1e-3)


def test_the_mixers_lie_fifty_points_apart_at_each_load(report: str) -> None:
    apart = rows_of(report, "| load | mixers |")
    assert [row[:2] + row[4:5] for row in apart] == [[load, "14", "50"] for load in ("0.25", "0.5", "1", "2")]
    assert [row[-1] for row in apart] == ["at most 10", "–", "over 30", "–"]
    assert {row[2] for row in apart} == {"rope"}


def test_each_choice_of_a_rate_is_shown(report: str) -> None:
    choices = rows_of(report, "| variant | matrices | exposures | width | control |")
    assert {shown[-1] for shown in choices} == {str(BEST)}
    assert all(len([cell for cell in shown[5:-1] if cell != "–"]) >= 3 for shown in choices)


def test_parts_without_rows_are_left_out(tmp_path: Path) -> None:
    rows = [row for row in all_rows() if row.width == 32 and not row.control and row.seed < 3]
    write_capacity(tmp_path / "page", Plan(SETTINGS, rows))
    report = (tmp_path / "page/report.md").read_text("utf-8")
    assert "## By load" in report and "## Optimizers" not in report
    write_capacity(tmp_path / "page", Plan(SETTINGS, [row for row in rows if row.seed]))
    assert "## Rates" in report and "## Rates" not in (tmp_path / "page/report.md").read_text("utf-8")
    assert "±" not in report.partition("## By load")[2].partition("## By")[0]  # two seeds show no interval


@pytest.mark.parametrize(
    ("shares", "expected"), [([0.8, 1.0], "32"), ([0.95, 1.0], "under 10"), ([0.5, 0.8], "over 100")]
)
def test_where_a_line_crosses_nine_tenths(shares: list[float], expected: str) -> None:
    # between 10 and 100 the middle of the decade is 10 x √10
    assert to_ninety(pd.DataFrame({"exposures": [10, 100], "share": shares})) == expected


def test_the_rate_of_each_number_of_exposures_is_listed() -> None:
    rows = pd.DataFrame({"exposures": [10, 10, 100], "learning_rate": [0.1, 0.1, 0.03]})
    assert rates_of(rows) == "0.1, 0.03"


def test_of_all_rates_the_one_that_stores_most_is_kept_for_each_number_of_exposures() -> None:
    cells = [("rope", "muon", 10, 0.1, 0.2), ("rope", "muon", 10, 0.3, 0.4), ("rope", "muon", 10, 0.3, 0.3)]
    cells += [("rope", "muon", 100, 0.1, 0.9), ("rope", "muon", 100, 0.3, 0.8)]
    rows = pd.DataFrame(cells, columns=["variant", "matrices", "exposures", "learning_rate", "share"])
    kept = at_best_rates(rows, {"muon": [0.1, 0.3]})
    assert kept[["exposures", "learning_rate", "share"]].to_numpy().tolist() == [
        [10, 0.3, 0.4], [10, 0.3, 0.3], [100, 0.1, 0.9],
    ]  # fmt: skip
    assert at_best_rates(rows, {"muon": [0.01, 0.1, 0.3]}).empty  # a rate was not tried


def test_one_seed_has_no_interval() -> None:
    assert with_interval([0.5]) == "0.50" and with_interval([]) == "–"
