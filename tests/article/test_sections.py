"""The article's figures hold the values of the reports and rows that they are made from."""

import json
import re
from html import unescape
from typing import Any

import pandas as pd
import pytest

from stages.article.sections import LOAD, Dot, by_load
from stages.trials.study.row import Cell, Row, read_rows
from tests.support.pages import committed
from tests.support.tiny import COMPARED, ROOT
from tests.trials.test_plan import row_of

REPORTS = {"handout": "compared", "unaided": "compared", "open": "all", "quick": "compared"}
MEASURES = {  # in the words of the article: weights and measure of extraction.csv
    "page's words, pretrained": ("pretrained", "continuation"),
    "page's words, finetuned": ("finetuned", "continuation"),
    "question, finetuned": ("finetuned", "extracted"),
    **{
        f"{offset} before, {weights}": (weights, f"offset_{offset}")
        for offset in (0, 1, 10)
        for weights in ("pretrained", "finetuned")
    },
}


def pairs_row(variant: str, swept: str, share: float) -> Row:
    cell = Cell(change="a", swept=swept, variant=variant, seed=1)
    return row_of(cell, bits_asked=100.0, bits_stored=100.0 * share)


def test_mixers_stand_in_the_order_of_load_one() -> None:
    shares = {"rope": {0.25: 1.0, 0.5: 1.0, 1: 0.5, 2: 0.25}, "min_gru": {0.25: 0.5, 0.5: 0.5, 1: 0.75, 2: 0.25}}
    rows = [pairs_row(name, json.dumps({LOAD: load}), share) for name in shares for load, share in shares[name].items()]
    expected = [("min gru", 0.25, 50), ("rope", 0.25, 100), ("min gru", 1, 75), ("rope", 1, 50), ("min gru", 2, 25)]
    assert by_load(rows) == [Dot(name, f"{load:g}", value) for name, load, value in [*expected, ("rope", 2, 25)]]


def with_interval(mean: float, low: float, high: float) -> str:
    return f"{mean:.1f} % ({low:.1f} to {high:.1f})"


def test_the_dots_of_the_committed_page_are_those_of_the_committed_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = unescape(committed("reports/article/index.html").decode())
    expected = set()
    for recipe, selection in REPORTS.items():
        report: dict[str, Any] = json.loads(committed(f"reports/{recipe}/{selection}/metrics.json"))
        for name in COMPARED:
            of = report["variants"][name]
            figures = with_interval(of["dev_accuracy"], of["dev_accuracy_ci_low"], of["dev_accuracy_ci_high"])
            expected |= {f"{name}, {recipe}, pretrained: {figures}"}
            expected |= {f"{name}, {recipe}, from scratch: {of['scratch_dev_accuracy']:.1f} %"}
    shares = pd.read_csv(ROOT / "reports/handout/compared/extraction.csv").set_index(["weights", "measure", "variant"])
    for words, key in MEASURES.items():
        for name in COMPARED:
            expected |= {f"{name}, {words}: {with_interval(*100 * shares.loc[(*key, name)])}"}
    (spans,) = [row for row in read_rows("ablation") if row.change == "only_spans"]
    assert f"answered, the pages alone: {100 * spans.right / spans.questions:.1f} %" in page
    assert expected - {*re.findall(r'data-said="([^"]+)"', page)} == set()
