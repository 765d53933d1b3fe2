"""The article's figures hold the values of the reports that they are made from."""

import io
import json
import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from stages.article import sections
from stages.article.charts import Dot
from stages.article.sections import by_load, charts, stored_after
from stages.system.errors import StudyError
from tests.support.pages import committed


def test_mixers_that_have_all_loads_stand_in_the_order_of_load_one() -> None:
    rope, min_gru, alibi = [(0.25, 1.0), (1, 0.5), (2, 0.25)], [(0.25, 0.5), (1, 0.75), (2, 0.25)], [(1, 0.9)]
    variants = {"rope": [*rope, (0.5, 1.0)], "min_gru": min_gru, "alibi": alibi}
    shares = pd.DataFrame([(name, *row) for name, rows in variants.items() for row in rows])
    shares.columns = ["variant", "load", "share"]
    assert by_load(shares.assign(ci_low=shares.share - 0.25, ci_high=shares.share + 0.25)) == [
        Dot("min gru", "0.25", 50.0, 25.0, 75.0),
        Dot("rope", "0.25", 100.0, 75.0, 125.0),
        Dot("min gru", "1", 75.0, 50.0, 100.0),
        Dot("rope", "1", 50.0, 25.0, 75.0),
        Dot("min gru", "2", 25.0, 0.0, 50.0),
        Dot("rope", "2", 25.0, 0.0, 50.0),
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
    ablation = table("open/ablation/ablation.csv").set_index("change")
    phrases = {"one phrase, drawn once": "one", "all capitalised phrases": "any", "the reader's phrase": "reader"}
    loads = table("capacity/page/loads.csv").set_index(["load", "variant"]).share
    shown = 0
    for series, row, value in SAID:
        if row == "the pages alone":
            expected = ablation.loc["only_spans", {"memorised": "memorised", "answered": "accuracy"}[series]]
        elif series in ("0.25", "1", "2"):
            expected = loads[float(series), row.replace(" ", "_")]
        elif phrase := re.fullmatch(r"(.+), (\d+) epochs", row):
            name = f"open-rope-{phrases[phrase[1]]}-{int(phrase[2]) // 60}-1"
            record = json.loads(committed(f"reports/access/rows/{name}.json"))
            marks = record["correct"] if series == "answered" else record["memorised"].replace("-", "")
            expected = marks.count("1") / len(marks)
        else:
            continue
        assert value == f"{100 * expected:.1f}", (series, row)
        shown += 1
    assert shown == 2 * (1 + 6) + 3 * 14


def test_what_is_stored_after_exposures_is_the_mean_of_the_seeds_that_chose_no_rate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = pd.DataFrame(
        [
            ("rope", 16, 1.0, 100, 0, 8.0, 8.0),
            ("rope", 16, 1.0, 100, 1, 8.0, 2.0),
            ("rope", 16, 1.0, 100, 2, 8.0, 6.0),
            ("rope", 32, 1.0, 100, 1, 8.0, 8.0),
            ("rope", 16, 0.5, 100, 1, 4.0, 4.0),
            ("nope", 16, 1.0, 100, 1, 8.0, 1.0),
            ("nope", 16, 1.0, 300, 1, 8.0, 8.0),
        ],
        columns=["variant", "width", "load", "exposures", "seed", "bits_asked", "bits_stored"],
    )
    rows.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr(sections, "CAPACITY", tmp_path / "rows.csv")
    assert stored_after(100).to_dict() == {"nope": 12.5, "rope": 50.0}
