"""The page of the study of access against figures reckoned by hand."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages.access.page import Row, figures, read, recipe_part, write_access
from stages.system.errors import StudyError


def row(variant: str = "rope", practice: str = "any", seed: int = 1, times: int = 1, **marks: str) -> Row:
    """A training that was asked five questions; the page of the last does not tell the answer."""
    plain = {
        "correct": "11000",
        "memorised": "1011-",
        "of_own_page": "11100",
        "as_reader": "11010",
        "as_drawn": "00001",
    }
    provenance: dict[str, Any] = {"commit": "0123456789abcdef", "device": "a <machine>"}
    cell = {"recipe": "quick", "variant": variant, "practice": practice, "seed": seed, "times": times}
    return Row.model_validate(cell | {"epochs": 60 * times, "seconds": 9.0, "provenance": provenance} | plain | marks)


def test_the_shares_are_those_reckoned_by_hand() -> None:
    found = figures([row(), row(seed=2, correct="10000", memorised="1111-")])
    assert found["accuracy"] == pytest.approx(3 / 10)
    assert found["memorised"] == pytest.approx(7 / 8)  # of the four facts, twice
    # stored are 1, 3, 4 of the first and 1 to 4 of the second; of these the first question is answered twice
    assert found["answered_of_memorised"] == pytest.approx(2 / 7)
    assert found["another_of_own_page"] == pytest.approx((1 + 2) / 10)
    assert (found["as_reader"], found["as_drawn"]) == pytest.approx((6 / 10, 2 / 10))


def test_variants_of_one_practice_and_length_are_compared_from_three_seeds_on() -> None:
    rows = [row(variant, seed=seed) for variant in ("vanilla", "rope") for seed in (1, 2, 3)]
    text = recipe_part("quick", [*rows, row("vanilla", "reader")]).text
    assert "**Differences, practice `any`, 60 epochs**" in text and "practice `reader`, 60 epochs" not in text
    assert "| rope | vanilla | +0.0 (" in text and "| 1.000 | 1.000 | no |" in text
    assert "| – | – | – |" in recipe_part("quick", [row("vanilla"), row("rope")]).text


def test_three_lengths_are_drawn_and_the_csv_has_a_row_for_each(tmp_path: Path) -> None:
    rows = [row(times=times) for times in (1, 2, 4)]
    part = recipe_part("quick", rows)
    assert pd.read_csv(io.StringIO(part.files["quick.csv"])).epochs.tolist() == [60, 120, 240]
    assert "](quick_exposures.svg)" in part.text and "](quick_exposures.svg)" not in recipe_part("quick", rows[:2]).text
    write_access(tmp_path / "page", rows)
    assert "commit 0123456789 on a &lt;machine&gt;" in (tmp_path / "page" / "report.md").read_text(encoding="utf-8")


def test_a_damaged_row_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"recipe": "quick", "correct": "12"}')
    with pytest.raises(StudyError, match=r"x\.json is damaged \([^\n]*\); delete it and run `dvc repro`$"):
        read(path)
