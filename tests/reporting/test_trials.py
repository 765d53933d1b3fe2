"""The figures of trials against those reckoned by hand, and rows that are read as they were saved."""

from pathlib import Path

import pytest

from stages.reporting.trials import figures
from stages.system.errors import StudyError
from stages.trials.row import Row
from tests.support.trial_rows import row


def test_the_shares_are_those_reckoned_by_hand() -> None:
    shares = figures([row(), row(seed=2, correct="10000", memorised="1111-")], "any")
    assert shares["accuracy"] == pytest.approx(3 / 10)
    assert shares["memorised"] == pytest.approx(7 / 8)  # four facts, asked twice
    # memorised are 1, 3, 4 of the first and 1 to 4 of the second; of these the first question is answered twice
    assert shares["extracted_of_memorised"] == pytest.approx(2 / 7)
    assert shares["another_of_own_page"] == pytest.approx((1 + 2) / 10)
    assert (shares["says_reader"], shares["says_drawn"]) == pytest.approx((6 / 10, 2 / 10))


def test_a_row_is_read_as_it_was_saved_and_damage_is_told_in_one_line(tmp_path: Path) -> None:
    row().save(tmp_path / "x.json")
    assert Row.load(tmp_path / "x.json") == row()
    (tmp_path / "x.json").write_text('{"recipe": "quick", "correct": "12"}')
    with pytest.raises(StudyError, match=r"x\.json is damaged \([^\n]*\); delete it and run `dvc repro`$"):
        Row.load(tmp_path / "x.json")
