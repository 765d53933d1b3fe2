"""Rows of trials are read as they were saved."""

from pathlib import Path

import pytest

from stages.system.errors import StudyError
from stages.trials.row import Row
from tests.support.trial_rows import row


def test_a_row_is_read_as_it_was_saved_and_damage_is_told_in_one_line(tmp_path: Path) -> None:
    row().save(tmp_path / "x.json")
    assert Row.load(tmp_path / "x.json") == row()
    (tmp_path / "x.json").write_text('{"recipe": "quick", "correct": "12"}')
    with pytest.raises(StudyError, match=r"x\.json is damaged \([^\n]*\); delete it and run `dvc repro`$"):
        Row.load(tmp_path / "x.json")
