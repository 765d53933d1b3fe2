"""Rows of trials are read as they were saved."""

from pathlib import Path

from stages.trials.row import Row
from tests.support.trial_rows import row


def test_a_row_is_read_as_it_was_saved(tmp_path: Path) -> None:
    row().save(tmp_path / "x.json")
    assert Row.load(tmp_path / "x.json") == row()
