"""The section on what is memorised and what is extracted says what the probes have, and reveals nothing."""

import io
from pathlib import Path

import pandas as pd
import pytest

from stages.reporting.sections.extraction import draw_extraction, extraction_part
from stages.reporting.statistics.intervals import accuracy_interval
from stages.system.errors import StudyError
from tests.reporting.sections.probe import FACTS, OFFSETS, cells, text_of, write_probe
from tests.reporting.statistics.test_intervals import marks


def test_the_tables_have_the_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    assert extraction_part(tmp_path, ["x"]) is None  # without a probe there is no section
    write_probe(tmp_path)
    text = text_of(extraction_part(tmp_path, ["x"]))
    forms, offsets = cells(text, "x")
    assert forms == ["75.0 → 37.5", "75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0", "60.0"]  # 30, 15, 10, 20 of 40; 18 of 30
    assert offsets == ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert "own page: 40 questions" in text and "in percent of the 40 facts that leave room" in text


def test_the_file_and_the_picture_have_every_share_with_the_interval_of_the_reports_statistics(tmp_path: Path) -> None:
    write_probe(tmp_path)
    part = extraction_part(tmp_path, ["x"])
    assert part is not None
    table = pd.read_csv(io.StringIO(part.files["extraction.csv"]))
    assert set(table.columns) == {"variant", "weights", "measure", "share", "ci_low", "ci_high"}  # no question or place
    rows = table.set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "memorised"): 15, ("finetuned", "extracted"): 20}
    (axes,) = draw_extraction(table).axes
    bars = [bars[0].get_width() for bars in axes.containers if hasattr(bars, "patches")]
    assert bars == [100 * right / FACTS for right in counts.values()]
    for offset, (before, after) in OFFSETS.items():
        counts |= {("pretrained", f"offset_{offset}"): before, ("finetuned", f"offset_{offset}"): after}
    for key, right in counts.items():
        assert rows.loc[key].share == right / FACTS
        if key != ("finetuned", "memorised"):  # of every other fact, not of the first ones
            interval = accuracy_interval(marks(right, FACTS, seeds=2), "x")
            assert (rows.loc[key].ci_low, rows.loc[key].ci_high) == pytest.approx(interval, abs=5e-5)


def test_forms_that_pretraining_did_not_practise_are_neither_shown_nor_explained(tmp_path: Path) -> None:
    write_probe(tmp_path, forms=("infilling",), offsets={})
    text = text_of(extraction_part(tmp_path, ["x"]))
    assert "*infilling*" in text and len(cells(text, "x")) == 1
    assert not [word for word in ("cloze", "continuation", "other name", "offset") if word in text]


@pytest.mark.parametrize("content", [None, "", "seed\trow\n"])
def test_a_broken_probe_is_told_in_one_line(tmp_path: Path, content: str | None) -> None:
    write_probe(tmp_path)
    path = tmp_path / "x" / "origins.tsv"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(StudyError, match=r"^.*x/origins.tsv: (broken|missing).*dvc repro$"):
        extraction_part(tmp_path, ["x"])
