"""The article's figures hold the values of the reports that they are made from."""

import io
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from stages.article import sections
from stages.article.sections import CHOSEN, EXPOSURES, LOAD, Dot, by_load, charts, inlined, stored_after
from stages.system.errors import StudyError
from stages.trials.study.row import Cell, Row, read_rows
from tests.support.pages import committed
from tests.trials.test_plan import row_of


def pairs_row(variant: str, swept: str, share: float, seed: int = 1) -> Row:
    cell = Cell(change="a", swept=swept, variant=variant, seed=seed)
    return row_of(cell, bits_asked=100.0, bits_stored=100.0 * share)


def test_mixers_stand_in_the_order_of_load_one() -> None:
    shares = {"rope": {0.25: 1.0, 0.5: 1.0, 1: 0.5, 2: 0.25}, "min_gru": {0.25: 0.5, 0.5: 0.5, 1: 0.75, 2: 0.25}}
    rows = [
        pairs_row(variant, json.dumps({LOAD: load}), share)
        for variant in shares
        for load, share in shares[variant].items()
    ]
    assert by_load(rows) == [
        Dot("min gru", "0.25", 50.0),
        Dot("rope", "0.25", 100.0),
        Dot("min gru", "1", 75.0),
        Dot("rope", "1", 50.0),
        Dot("min gru", "2", 25.0),
        Dot("rope", "2", 25.0),
    ]


def test_a_report_without_a_variant_of_the_text_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "metrics", lambda selection: {"variants": {"rope": {}, "vanilla": {}}})
    with pytest.raises(StudyError, match="reports/unaided/compared: there is no synthesizer, of which the article's"):
        charts(["rope", "vanilla"])
    lacks_rope = {"variants": {"vanilla": {}, "synthesizer": {}}}
    has_both = {"variants": {"rope": {}, "synthesizer": {}}}
    monkeypatch.setattr(sections, "metrics", lambda selection: lacks_rope if "quick" in selection else has_both)
    with pytest.raises(StudyError, match="reports/quick/compared: there is no rope, of which the article's"):
        charts(["vanilla"])


PAGE = unescape(committed("reports/article/index.html").decode())
SAID = re.findall(r'data-said="([^,"]+), ([^"]+): ([\d.]+) %', PAGE)
REPORTS = {"handout": "handout/compared", "unaided": "unaided/compared", "open": "open/all", "quick": "quick/compared"}


def table(path: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(committed(f"reports/{path}")))


def test_the_dots_of_accuracies_are_those_of_the_committed_reports() -> None:
    shown = 0
    for recipe, report in REPORTS.items():
        variants = json.loads(committed(f"reports/{report}/metrics.json"))["variants"]
        for init, key in (("from scratch", "scratch_dev_accuracy"), ("pretrained", "dev_accuracy")):
            for variant, _, value in [said for said in SAID if said[1] == f"{recipe}, {init}"]:
                assert value == f"{variants[variant][key]:.1f}", (recipe, init, variant)
                shown += 1
    assert shown == 4 * 2 * 4


def test_the_dots_of_facts_are_those_of_the_committed_report() -> None:
    shares = table("handout/compared/extraction.csv").set_index(["weights", "measure", "variant"]).share
    shown = 0
    for variant, row, value in SAID:
        moved = re.fullmatch(r"(\d+) before, (pretrained|finetuned)", row)
        asked = re.fullmatch(r"(question|page's words), (pretrained|finetuned)", row)
        if moved or asked:
            weights = (moved or asked)[2]
            measure = f"offset_{moved[1]}" if moved else {"question": "extracted"}.get(asked[1], "continuation")
            assert value == f"{100 * shares[weights, measure, variant]:.1f}", (variant, row)
            shown += 1
    assert shown == (3 + 6) * 4


def test_the_dots_of_practice_and_of_mixers_are_those_of_the_committed_tables() -> None:
    phrases = {one: change for change, one in CHOSEN.items()}
    trained = {(row.change, row.epochs): row for row in read_rows("access_open")}
    trained |= {(row.change, row.epochs): row for row in read_rows("ablation") if row.change == "only_spans"}
    loads: dict[tuple[str, str], list[Row]] = {}
    for row in read_rows("capacity_loads"):
        loads.setdefault((f"{row.values[LOAD]:g}", row.variant), []).append(row)
    shown = 0
    for series, label, value in SAID:
        if series in ("0.25", "1", "2"):
            rows = loads[series, label.replace(" ", "_")]
            expected = np.mean([row.bits_stored / row.bits_asked for row in rows])
        elif label == "the pages alone" or (phrase := re.fullmatch(r"(.+), (\d+) epochs", label)):
            row = (
                trained["only_spans", 60] if label == "the pages alone" else trained[phrases[phrase[1]], int(phrase[2])]
            )
            expected = row.right / row.questions if series == "answered" else row.memorised / row.facts
        else:
            continue
        assert value == f"{100 * expected:.1f}", (series, label)
        shown += 1
    assert shown == 2 * (1 + 6) + 3 * 14


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
