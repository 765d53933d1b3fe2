"""The section made from probes says what these have, and reveals nothing."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages.reporting.evaluations import Evaluation, read_evaluation
from stages.reporting.sections.extraction import draw_extraction, extraction_part
from stages.reporting.statistics import accuracy_interval
from tests.reporting.statistics.test_intervals import marks
from tests.support.example import FACTS, probe_tables, write_variant
from tests.support.pages import cells


def probed(folder: Path, **changes: Any) -> list[Evaluation]:
    """The evaluation of a variant x with the tables of a changed probe."""
    write_variant(folder, "x", [[0]], [[1]], curve_rows=1, probes=probe_tables(**changes))
    return [read_evaluation(folder / "x", folder / "baseline")]


def test_tables_file_and_picture_have_the_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    assert extraction_part(probed(tmp_path, facts=0)) is None  # without a fact there is no section
    part = extraction_part(probed(tmp_path))
    assert part is not None
    forms, offsets = ["75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0"], ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert cells(part.text, "x") == [[*forms, *offsets]]  # of 40: 30, 15; 0; 10, 20
    table = pd.read_csv(io.StringIO(part.files["extraction.csv"]))
    assert set(table.columns) == {"variant", "weights", "measure", "share", "ci_low", "ci_high"}  # no question or place
    rows = table.set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "memorised"): 15, ("finetuned", "extracted"): 20}
    (axes,) = draw_extraction(table).axes
    bars = [bars[0].get_width() for bars in axes.containers if hasattr(bars, "patches")]
    assert bars == [100 * right / FACTS for right in counts.values()]
    assert [rows.loc[key].share for key in counts] == [right / FACTS for right in counts.values()]
    interval = accuracy_interval(marks(30, FACTS, seeds=2))
    assert tuple(rows.loc["pretrained", "memorised"][["ci_low", "ci_high"]]) == pytest.approx(interval, abs=5e-5)


def test_variants_that_practised_different_forms_stand_in_one_table(tmp_path: Path) -> None:
    write_variant(tmp_path, "y", [[0]], [[1]], curve_rows=1, probes=probe_tables(forms=("infilling",), offsets={}))
    other = probed(tmp_path, forms=("cloze",))
    part = extraction_part([read_evaluation(tmp_path / "y", tmp_path / "baseline"), *other])
    assert part is not None
    assert "*infilling*" in part.text and "continuation" not in part.text  # forms that nobody practised
    assert cells(part.text, "y") == [["–", "75.0 → 37.5", "25.0 → 50.0", "–", "–", "–"]]
    assert cells(part.text, "x") == [["75.0 → 37.5", "–", "25.0 → 50.0", "100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]]
