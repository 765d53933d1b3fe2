"""The section on where answers come from counts every answer once."""

from pathlib import Path

import pandas as pd

from stages.reporting.sections.failures import failures_part
from stages.reporting.statistics.intervals import accuracy_interval
from tests.reporting.sections.probe import cells, text_of, write_probe, write_rows
from tests.reporting.statistics.test_intervals import marks


def test_each_row_has_the_shares_of_all_answers(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(failures_part(tmp_path, ["x"]))
    assert cells(text, "x", "dev, from scratch")[0][:5] == ["0.0", "0.0", "0.0", "50.0", "0.0"]
    assert cells(text, "x", "dev, pretrained")[0][:5] == ["20.0", "20.0", "20.0", "20.0", "0.0"]
    assert cells(text, "x", "unseen entities")[0][:5] == ["–", "–", "50.0", "0.0", "25.0"]
    assert "are 4 names that no page and no question has" in text


def test_hallucinations_have_the_interval_of_the_reports_statistics(tmp_path: Path) -> None:
    write_probe(tmp_path)
    low, high = (100 * bound for bound in accuracy_interval(marks(1, 4, seeds=2), "x"))
    text = text_of(failures_part(tmp_path, ["x"]))
    assert cells(text, "x", "unseen entities")[0][5] == f"25.0 ({low:.1f} to {high:.1f})"


def test_where_no_name_can_be_read_there_is_no_row_of_unseen_entities(tmp_path: Path) -> None:
    write_probe(tmp_path)
    dev = [{"asked": "dev", "init": "pretrained", "row": 1, "origin": "correct"}]
    write_rows(tmp_path / "x" / "origins.tsv", pd.DataFrame(dev))
    text = text_of(failures_part(tmp_path, ["x"]))
    assert cells(text, "x", "dev, pretrained")[0][0] == "100.0" and "unseen" not in text


def test_without_a_probe_there_is_no_section(tmp_path: Path) -> None:
    assert failures_part(tmp_path, ["x"]) is None
    write_probe(tmp_path)
    assert text_of(failures_part(tmp_path, ["x", "y"])) == text_of(failures_part(tmp_path, ["x"]))
