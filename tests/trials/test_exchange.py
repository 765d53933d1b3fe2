"""The page on what study exchange registered: its numbers are those of its rows, by hand and by scipy."""

import math
from pathlib import Path

import pytest
from scipy import stats

from stages.trials import exchange
from stages.trials.exchange import NOT_REACHED, PHRASINGS, PRACTICE, MixerRows, write_exchange
from stages.trials.study.plan import Plan
from stages.trials.study.row import Cell
from tests.support.tiny import SETTINGS
from tests.trials.test_plan import row_of

WORLDS = ("101", "102", "103")


def mixer(name: str, ratios: list[float], answers: int = 50, stored: float = 0.99, noise: float = 0.0) -> MixerRows:
    """A mixer whose questions have so much of ten bits at 1, 2, 4 and 8 phrasings; noise: from world to world."""
    of_change = dict.fromkeys(PRACTICE.values(), ratios[0]) | dict(zip(PHRASINGS.values(), ratios, strict=True))
    rows = {
        change: [
            row_of(
                Cell(change=change, variant=name, world=world, seed=1),
                questions=100, right=answers, page_bits=10.0, question_bits=10 * ratio + noise * number,
                page_stored=stored,
            )
            for number, world in enumerate(WORLDS)
        ]
        for change, ratio in of_change.items()
    }  # fmt: skip
    return MixerRows(name, rows, rate=0.01, steps=704)


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
    assert mixer("rope", ratios).phrasings_to_half == pytest.approx(expected)


def test_the_page_has_the_registered_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mixers = [
        mixer("rope", [0.3, 0.6, 0.7, 0.8], answers=60, noise=0.1),
        mixer("nope", [0.5, 0.6, 0.7, 0.8], answers=40, noise=0.2),
        mixer("vanilla", [0.1, 0.2, 0.3, 0.4], answers=80, noise=0.05),
        mixer("perceiver", [0.2, 0.3, 0.4, 0.9], answers=10, stored=0.5),
    ]
    monkeypatch.setattr(exchange, "PAGE", tmp_path / "exchange")
    write_exchange(Plan("exchange", SETTINGS), mixers)
    page = (tmp_path / "exchange/report.md").read_text(encoding="utf-8")
    ratios = [one.ratios("practice_0") for one in mixers[:3]]
    friedman = stats.friedmanchisquare(*ratios)
    inverse = stats.spearmanr([3.1, 5.2, 1.05, 2.0], [60, 40, 80, 10]).statistic
    assert f"χ² = {friedman.statistic:.1f}, p {friedman.pvalue:.3f}" in page
    assert f"{inverse:+.2f} over 4" in page
    assert "16.0 times; 2 of 3 reach it by 8" in page
    assert "Matched: rope, nope, vanilla. 4 of 12 mixers" in page
    assert "50.0 (not matched)" in page
