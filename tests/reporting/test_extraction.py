"""What is memorised and extracted has the shares of the probes, and reveals nothing."""

from pathlib import Path

import pytest

from stages.reporting.extraction import draw_extraction, extraction_shares, forms_reached_table, memorised_table
from stages.reporting.statistics import accuracy_interval
from tests.reporting.test_statistics import marks
from tests.support.example import FACTS, evaluated, probe_tables
from tests.support.pages import cells


def test_tables_and_picture_have_the_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=1)
    assert cells(memorised_table([evaluation]), "x") == [["75.0", "50.0", "60.0"]]  # 30 and 20 of 40 facts; 18 of 30
    shares = extraction_shares([evaluation])
    forms, offsets = ["75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0"], ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert cells(forms_reached_table(shares), "x") == [[*forms, *offsets]]  # of 40: 30, 15; 0; 10, 20
    assert set(shares) == {"variant", "weights", "measure", "share", "ci_low", "ci_high"}  # no question or place
    rows = shares.set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "memorised"): 15, ("finetuned", "extracted"): 20}
    (axes,) = draw_extraction(shares).axes
    bars = [bars[0].get_width() for bars in axes.containers if hasattr(bars, "patches")]
    assert bars == [100 * right / FACTS for right in counts.values()]
    assert [rows.loc[key].share for key in counts] == [right / FACTS for right in counts.values()]
    interval = accuracy_interval(marks(30, FACTS, seeds=2))
    assert tuple(rows.loc["pretrained", "memorised"][["ci_low", "ci_high"]]) == pytest.approx(interval)


def test_variants_that_practised_different_forms_stand_in_one_table(tmp_path: Path) -> None:
    made = {"y": probe_tables(forms=("infilling",), offsets={}), "x": probe_tables(forms=("cloze",))}
    evaluations = [
        evaluated(tmp_path, name, [[0]], [[1]], curve_rows=1, probes=probes) for name, probes in made.items()
    ]
    text = forms_reached_table(extraction_shares(evaluations))
    assert cells(text, "variant")[0] == ["cloze", "infilling", "question", "offset 0", "offset 1", "offset 10"]
    assert cells(text, "y") == [["–", "75.0 → 37.5", "25.0 → 50.0", "–", "–", "–"]]
    assert cells(text, "x") == [["75.0 → 37.5", "–", "25.0 → 50.0", "100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]]
