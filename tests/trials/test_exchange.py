"""The page on what study exchange registered: it is made of the committed rows, and its tests are scipy's."""

import math
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from stages.trials import exchange
from stages.trials.exchange import NOT_REACHED, phrasings_to_half, write_exchange
from stages.trials.study.plan import Plan
from tests.support.pages import committed
from tests.support.tiny import ROOT, SETTINGS


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


def test_the_page_has_the_registered_tests_of_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(exchange, "PAGE", tmp_path / "page")
    write_exchange(Plan("exchange", SETTINGS))
    page = (tmp_path / "page/report.md").read_text(encoding="utf-8")
    assert page == committed("reports/trials/exchange/test/report.md").decode()

    rows = pd.read_csv("reports/trials/exchange/rows.csv")
    means = rows.groupby(["change", "variant"]).mean(numeric_only=True)
    plain, practised = means.loc["practice_0"], means.loc["practice_90"]
    matched = plain.index[plain.page_stored >= 0.95]
    some = rows[(rows.change == "practice_0") & rows.variant.isin(matched)]
    ratios = some.assign(ratio=some.question_bits / some.page_bits).pivot(index="world", columns="variant")["ratio"]
    friedman = stats.friedmanchisquare(*ratios.to_numpy().T)
    assert f"χ² = {friedman.statistic:.1f}, p {friedman.pvalue:.3f}" in page
    inverse = stats.spearmanr(plain.question_bits, practised.right[plain.index]).statistic
    assert f"{inverse:+.2f} over 12" in page
