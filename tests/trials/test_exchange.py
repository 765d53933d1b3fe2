"""The page on what study exchange registered: its numbers are those of its rows, by hand and by scipy."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from stages.trials import exchange
from stages.trials.exchange import NOT_REACHED, PHRASINGS, PRACTICE, phrasings_to_half, write_exchange
from stages.trials.study.row import Cell
from tests.trials.test_plan import row_of


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([0.6, 0.7, 0.8, 0.9], 1.0),
        ([0.1, 0.5, 0.8, 0.9], 2.0),
        ([0.1, 0.2, 0.8, 0.9], 2 * math.sqrt(2)),  # half of the way from 2 to 4, on a logarithmic axis
        ([0.1, 0.2, 0.3, 0.4], NOT_REACHED),
    ],
)
def test_phrasings_to_half_are_read_off_a_logarithmic_axis(ratios: list[float], expected: float) -> None:
    assert phrasings_to_half(ratios) == pytest.approx(expected)


def mixer(name: str, ratios: list[float], right: int, stored: float = 0.99, noise: float = 0.0) -> list[dict[str, Any]]:
    """Rows of a mixer whose questions have so much of ten bits at 1, 2, 4 and 8 phrasings; noise: between worlds."""
    of_change = dict.fromkeys(PRACTICE.values(), ratios[0]) | dict(zip(PHRASINGS.values(), ratios, strict=True))
    figures = {"questions": 100, "right": right, "page_bits": 10.0, "page_stored": stored}
    return [
        row_of(
            Cell(change=change, variant=name, world=f"{number}", seed=1),
            **figures,
            question_bits=10 * ratio + noise * number,
        ).model_dump()
        | {"rate": 0.01, "steps": 704}
        for change, ratio in of_change.items()
        for number in range(3)
    ]


def test_the_page_has_the_registered_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        *mixer("rope", [0.3, 0.6, 0.7, 0.8], right=60, noise=0.1),
        *mixer("nope", [0.5, 0.6, 0.7, 0.8], right=40, noise=0.2),
        *mixer("vanilla", [0.1, 0.2, 0.3, 0.4], right=80, noise=0.05),
        *mixer("perceiver", [0.2, 0.3, 0.4, 0.9], right=10, stored=0.5),
    ]
    monkeypatch.setattr(exchange, "PAGE", tmp_path / "exchange")
    write_exchange(pd.DataFrame(rows), 12)
    page = (tmp_path / "exchange/report.md").read_text(encoding="utf-8")
    friedman = stats.friedmanchisquare([0.3, 0.31, 0.32], [0.5, 0.52, 0.54], [0.1, 0.105, 0.11])
    inverse = stats.spearmanr([3.1, 5.2, 1.05, 2.0], [60, 40, 80, 10]).statistic
    assert f"χ² = {friedman.statistic:.1f}, p {friedman.pvalue:.3f}" in page
    assert f"{inverse:+.2f} over 4" in page
    assert "16.0 times; 2 of 3 reach it by 8" in page
    assert "Matched: rope, nope, vanilla. 4 of 12 mixers" in page
    assert "50.0 (not matched)" in page
