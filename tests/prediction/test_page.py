"""The page: rank correlations and means of invented rows, by arithmetic of a test's own."""

from pathlib import Path

import numpy as np
import pytest

from stages.prediction.cell import Row, cells
from stages.prediction.page import RECURRENT, by_mixer, correlation, write_prediction
from stages.settings.measured import Forecast
from tests.support.pages import rows_of
from tests.support.tiny import SETTINGS, VARIANTS

FORECASTS = {"alibi": Forecast(nearest="nope", rank=9), "rope": Forecast(nearest="vanilla", rank=3)}
STORED = {variant: 1 - 0.05 * number for number, variant in enumerate(VARIANTS)}


def rows() -> list[Row]:
    """Make rows in which bits of a question fall as the alignment does, and those of a page rise."""
    made = {"parameters": 1000, "seconds": 60.0, "commit": "c", "device": "d"}
    result = []
    for cell in cells(SETTINGS):
        if cell.variant not in VARIANTS:
            continue
        number = VARIANTS.index(cell.variant)
        figures = {"alignment": 0.1 - 0.005 * number, "question_bits": 4.0 - 0.1 * number, "page_bits": 1.0 * number}
        result.append(Row(**cell.model_dump(), **figures, **made))
    return result


def test_a_forecast_that_orders_as_the_target_does_correlates_fully() -> None:
    data = by_mixer(rows(), STORED)
    assert correlation(data, "alignment", "question_bits") == "1.00 (1.00 to 1.00)"
    assert correlation(data, "page_bits", "share") == "-1.00 (-1.00 to -1.00)"
    assert correlation(data, "parameters", "share") == "–"  # all have as many


def test_the_correlation_is_spearmans() -> None:
    data = by_mixer(rows(), STORED).head(6).assign(x=[1, 2, 3, 4, 5, 6], y=[2, 1, 4, 3, 6, 5])
    # 1 − 6 Σ d² / (n (n² − 1)), d = 1 for six
    assert correlation(data, "x", "y").startswith(f"{1 - 6 * 6 / (6 * 35):.2f} (")


def test_the_page_has_all_mixers_and_both_groups(tmp_path: Path) -> None:
    write_prediction(tmp_path / "page", rows(), STORED, FORECASTS)
    report = (tmp_path / "page/report.md").read_text("utf-8")
    table = rows_of(report, "| variant | alignment |")
    assert [row[0] for row in table] == VARIANTS
    assert table[0][1:4] == ["0.100", "4.0", "1.00"] and table[0][5] == "6"
    assert f"{len(VARIANTS) - len(RECURRENT) - 1} mixers" in report  # one of FORECASTS is among them
    assert (tmp_path / "page/index.html").exists()


def test_a_forecast_stands_beside_the_ranks_that_came_out(tmp_path: Path) -> None:
    write_prediction(tmp_path / "page", rows(), STORED, FORECASTS)
    table = rows_of((tmp_path / "page/report.md").read_text("utf-8"), "| mixer | forecast by alignment |")
    assert table[0] == ["alibi", "9", "nope", "–", "–", "–", "–"]  # not trained yet
    assert table[1] == ["rope", "3", "vanilla", "1", "2", "1", "2"]


def test_a_share_that_was_not_measured_is_left_out(tmp_path: Path) -> None:
    write_prediction(tmp_path / "page", rows(), {}, FORECASTS)
    report = (tmp_path / "page/report.md").read_text("utf-8")
    assert rows_of(report, "| variant | alignment |")[0][3] == "–"
    assert np.isnan(by_mixer(rows(), {}).share).all()


@pytest.mark.parametrize("name", RECURRENT)
def test_the_class_that_is_left_out_are_variants(name: str) -> None:
    assert name in VARIANTS
