"""The page of the study of access has the figures of its rows."""

import io
from pathlib import Path

import pandas as pd

from stages.access.page import recipe_part, write_access
from tests.support.trial_rows import row


def test_variants_of_one_practice_and_length_are_compared_from_three_seeds_on() -> None:
    rows = [row(variant=variant, seed=seed) for variant in ("vanilla", "rope") for seed in (1, 2, 3)]
    text = recipe_part("quick", [*rows, row("reader", variant="vanilla")]).text
    assert "**Differences, phrases `any`, 60 epochs**" in text and "phrases `reader`, 60 epochs" not in text
    assert "| rope | vanilla | +0.0 (" in text and "| 1.000 | 1.000 | no |" in text
    worse = [row(variant="vanilla", seed=seed, correct="00000") for seed in (1, 2, 3)]
    assert "| rope | vanilla | +40.0 (" in recipe_part("quick", [*worse, *rows[3:]]).text  # 2 of 5
    untested = recipe_part("quick", [row(variant="vanilla"), row()]).text
    assert "| rope | vanilla | +0.0 (" in untested and "corrected p" not in untested  # too few seeds for a test


def test_three_lengths_are_drawn_and_the_csv_has_a_row_for_each(tmp_path: Path) -> None:
    rows = [row(epochs=epochs) for epochs in (60, 120, 240)]
    part = recipe_part("quick", rows)
    assert pd.read_csv(io.StringIO(part.files["quick.csv"])).epochs.tolist() == [60, 120, 240]
    assert "](quick_exposures.svg)" in part.text
    assert "](quick_exposures.svg)" not in recipe_part("quick", rows[:2]).text
    write_access(tmp_path / "page", rows)
    assert "commit 0123456789 on a &lt;machine&gt;" in (tmp_path / "page" / "report.md").read_text(encoding="utf-8")


def test_the_table_has_memorised_answered_and_whom_the_answers_follow() -> None:
    line = recipe_part("quick", [row(), row(seed=2, correct="10000", memorised="1111-")]).text.splitlines()
    (cells,) = [row for row in line if row.startswith("| rope | any | 60 | 2 |")]
    # Of four facts, asked twice, 7 are memorised, of which 2 are answered; 3 of 10 answers are right.
    # 1 and 2 wrong answers are of the own page; 1, 2 and 4 of each five are the reader's, the last is the phrase drawn.
    assert cells.endswith("| 28.6 | 30.0 | 60.0 | 20.0 | 12 |")
    assert cells.startswith("| rope | any | 60 | 2 | 87.5 | 30.0 (")
