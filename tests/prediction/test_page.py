"""The page: rank correlations and means of invented rows, by arithmetic of a test's own."""

from pathlib import Path

import numpy as np

from stages.prediction.page import RECURRENT, by_mixer, correlation, write_prediction
from stages.prediction.row import Row, cells
from stages.settings.measured import Forecast
from tests.support.pages import TEXTS, committed, rows_of
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


def written(folder: Path, stored: dict[str, float] = STORED, forecasts: dict[str, Forecast] = FORECASTS) -> str:
    of_handout = {"dev_accuracy_ci_low": 20.0, "dev_accuracy": 30.0, "dev_accuracy_ci_high": 40.0}
    write_prediction(
        folder / "page", rows(), stored, forecasts, dict.fromkeys(["rope", "vanilla"], of_handout), complete=False
    )
    return (folder / "page/report.md").read_text("utf-8")


def test_a_forecast_that_orders_as_the_target_does_correlates_fully() -> None:
    data = by_mixer(rows(), STORED)
    assert correlation(data, "alignment", "question_bits") == "1.00 (1.00 to 1.00)"
    assert correlation(data, "page_bits", "share") == "-1.00 (-1.00 to -1.00)"
    assert correlation(data, "parameters", "share") == "–"  # all have as many


def test_recurrent_mixers_are_forecast_to_lie_below_the_others() -> None:
    data = by_mixer(rows(), {variant: float(variant not in RECURRENT) for variant in VARIANTS})
    assert correlation(data, "class", "share").startswith("1.00 (")


def test_the_correlation_is_spearmans() -> None:
    data = by_mixer(rows(), STORED).head(6).assign(x=[1, 2, 3, 4, 5, 6], y=[2, 1, 4, 3, 6, 5])
    # 1 − 6 Σ d² / (n (n² − 1)), d = 1 for six
    assert correlation(data, "x", "y").startswith(f"{1 - 6 * 6 / (6 * 35):.2f} (")


def test_the_page_has_all_mixers_and_both_groups(tmp_path: Path) -> None:
    report = written(tmp_path)
    table = rows_of(report, "| variant | alignment |")
    assert [row[0] for row in table] == VARIANTS
    assert table[0][1:4] == ["0.100", "4.0", "1.00"] and table[0][5] == "6"
    assert f"{len(VARIANTS) - len(RECURRENT) - 1} mixers" in report  # one of FORECASTS is among them
    assert (tmp_path / "page/index.html").exists()
    real = rows_of(report, "| variant | alignment | T1: bits of a question | handout")
    assert {row[0]: row[3] for row in real} == dict.fromkeys(["vanilla", "rope"], "30.0 (20.0 to 40.0)")
    table = rows_of(report, "| mixer | forecast by alignment |")  # and a forecast beside the ranks that came out
    assert table[0] == ["alibi", "9", "nope", *"––––––"]  # not trained yet
    assert table[1] == ["rope", "3", "vanilla", "1", "2", "neither", "1", "2", "neither"]


def test_a_share_that_was_not_measured_is_a_dash_and_no_rank_is_closer_to_its_own(tmp_path: Path) -> None:
    stored = {variant: share for variant, share in STORED.items() if variant != "vanilla"}  # the nearest one of rope
    assert np.isnan(by_mixer(rows(), {}).share).all()
    report = written(tmp_path, stored)
    assert [row[3] for row in rows_of(report, "| variant | alignment |")[:2]] == ["–", "0.95"]
    table = rows_of(report, "| mixer | forecast by alignment |")
    assert table[1] == ["rope", "3", "vanilla", "1", "2", "neither", *"–––"]


def test_what_was_expected_stands_beside_what_came_out(tmp_path: Path) -> None:
    better = {"rope": Forecast(nearest="wrnn", rank=3)}  # 1 from its rank, and the last one 12
    for forecasts, won in ((FORECASTS, "0 of 2"), (better, "1 of 1")):
        *correlations, ranks = rows_of(written(tmp_path, forecasts=forecasts), "| expected before |")
        assert [row[1:] for row in correlations] == [["1.00", "yes"]] * 2
        assert ranks[1:] == [won, "yes" if won == "1 of 1" else "no"]


def test_the_notes_have_the_figures_of_the_committed_page() -> None:
    report = committed("reports/prediction/page/report.md").decode()
    notes = TEXTS["docs/notes.md"].partition("## Can one tell before training?")[2]
    alignment, of_class, _, pages = rows_of(report, "| forecast |")
    shown = [*alignment[1:3], of_class[1].partition(" ")[0], *(cell.partition(" ")[0] for cell in pages[1:3])]
    assert all(figure in notes for figure in shown)
    bits = {row[0]: row[2] for row in rows_of(report, "| variant | alignment |")}
    assert f"({bits['nope']}, {bits['vanilla']} and {bits['rope']})" in notes
    assert "| 1 of 3 | no |" in report and "closer for one of three" in notes
    real = rows_of(report, "| variant | alignment | T1: bits of a question | handout")
    percents = {row[0]: round(float(row[3].split()[0])) for row in real}
    of_four = "answer {rope} and {vanilla} %, the synthesizer and the perceiver {synthesizer} and {perceiver};"
    assert of_four.format(**percents) in " ".join(notes.split()) and real[0][0] == "synthesizer"
