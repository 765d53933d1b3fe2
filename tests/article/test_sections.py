"""The article's figures hold the values of the reports that they are made from."""

import json
import re
from html import unescape

import pandas as pd
import pytest

from stages.article import sections
from stages.article.sections import (
    EXPOSURES,
    LOAD,
    SHIFTS,
    WORDS,
    Dot,
    by_init,
    by_load,
    charts,
    facts,
    inlined,
    stored_after,
)
from stages.system.errors import UserError
from stages.trials.study.row import Cell, Row, read_rows
from tests.support.pages import committed
from tests.support.tiny import COMPARED, ROOT
from tests.trials.test_plan import row_of


def pairs_row(variant: str, swept: str, share: float, seed: int = 1) -> Row:
    cell = Cell(change="a", swept=swept, variant=variant, seed=seed)
    return row_of(cell, bits_asked=100.0, bits_stored=100.0 * share)


def test_mixers_stand_in_the_order_of_load_one() -> None:
    shares = {"rope": {0.25: 1.0, 0.5: 1.0, 1: 0.5, 2: 0.25}, "min_gru": {0.25: 0.5, 0.5: 0.5, 1: 0.75, 2: 0.25}}
    rows = [pairs_row(name, json.dumps({LOAD: load}), share) for name in shares for load, share in shares[name].items()]
    expected = [("min gru", 0.25, 50), ("rope", 0.25, 100), ("min gru", 1, 75), ("rope", 1, 50), ("min gru", 2, 25)]
    assert by_load(rows) == [Dot(name, f"{load:g}", value) for name, load, value in [*expected, ("rope", 2, 25)]]


def test_a_report_without_a_variant_of_the_text_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "metrics", lambda selection: {"variants": {"rope": {}, "vanilla": {}}})
    with pytest.raises(UserError, match="reports/unaided/compared: there is no synthesizer, of which the article's"):
        charts(["rope", "vanilla"])
    lacks_rope = {"variants": {"vanilla": {}, "synthesizer": {}}}
    has_both = {"variants": {"rope": {}, "synthesizer": {}}}
    monkeypatch.setattr(sections, "metrics", lambda selection: lacks_rope if "quick" in selection else has_both)
    with pytest.raises(UserError, match="reports/quick/compared: there is no rope, of which the article's"):
        charts(["vanilla"])


def test_rows_and_series_have_the_figures_of_their_report() -> None:
    figures = {
        "scratch_dev_accuracy": 1.0,
        "dev_accuracy": 9.0,
        "dev_accuracy_ci_low": 8.0,
        "dev_accuracy_ci_high": 9.5,
    }
    assert by_init([{"recipe": "open", "variants": {"rope": figures}}], ["rope"]) == [
        Dot("open, from scratch", "rope", 1.0, None, None),
        Dot("open, pretrained", "rope", 9.0, 8.0, 9.5),
    ]
    measures = [(weights, measure) for weights, measure in {**WORDS, **SHIFTS}.values()]
    shares = pd.DataFrame(
        [(*key, "rope", number, number - 1, number + 1) for number, key in enumerate(measures)],
        columns=["weights", "measure", "variant", "share", "ci_low", "ci_high"],
    ).set_index(["weights", "measure", "variant"])
    assert facts(shares, WORDS, ["rope"])[2] == Dot("question, finetuned", "rope", 2, 1, 3)
    assert facts(shares, SHIFTS, ["rope"])[5] == Dot("10 before, finetuned", "rope", 8, 7, 9)


def test_the_dots_of_the_committed_page_are_those_of_the_committed_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = unescape(committed("reports/article/index.html").decode())
    said = re.findall(r'data-said="([^"]+)"', page)
    dots = [dot for chart in charts(COMPARED).values() for dot in chart.dots]
    assert sorted(said) == sorted(f"{dot.series}, {dot.row}: {dot.words}" for dot in dots)
    (spans,) = [row for row in read_rows("ablation") if row.change == "only_spans"]
    assert f"answered, the pages alone: {100 * spans.right / spans.questions:.1f} %" in page


def test_what_is_stored_after_exposures_is_the_mean_of_the_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    after = json.dumps({EXPOSURES: 100})
    rows = [
        pairs_row("rope", after, 0.25),
        pairs_row("rope", after, 0.75, seed=2),
        pairs_row("nope", after, 0.125),
        pairs_row("nope", json.dumps({EXPOSURES: 300}), 1.0),
    ]
    monkeypatch.setattr(sections, "read_rows", lambda study: rows)
    assert stored_after(100) == {"rope": 50.0, "nope": 12.5}


NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SVG = f'<svg {NAMESPACES} width="60pt" viewBox="0 0 6 4">{{}}</svg>'


def test_identifiers_of_a_figure_and_what_refers_to_them_get_the_prefix() -> None:
    content = (
        '<defs><style>* {evil: 1}</style></defs><path id="m" d="M 0 0" style="fill: #222222"/><clipPath id="p0"/>'
        '<use xlink:href="#m" clip-path="url(#p0)"/>'
    )
    element = inlined(SVG.format(content), "f1--", '<b> "quoted"')
    assert '<path id="f1--m" d="M 0 0" style="fill: #222222"' in element
    assert '<clipPath id="f1--p0"' in element and '<use href="#f1--m" clip-path="url(#f1--p0)"' in element
    assert "http" not in element and "evil" not in element  # a figure's style would hold for the whole page
    assert 'aria-label="&lt;b&gt; &quot;quoted&quot;"' in element
