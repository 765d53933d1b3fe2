"""The article's figures hold the values of the reports that they are made from."""

import pandas as pd
import pytest

from stages.article import sections
from stages.article.charts import Dot
from stages.article.sections import by_load, charts
from stages.system.errors import StudyError


def test_mixers_stand_in_the_order_of_load_one_with_what_open_memorised_first() -> None:
    index = pd.MultiIndex.from_product([["pretrained"], ["memorised"], ["rope", "min_gru"]])
    index.names = ["weights", "measure", "variant"]
    of_open = pd.DataFrame({"share": [99.0, 98.0], "ci_low": [98.0, 97.0], "ci_high": [100.0, 99.0]}, index)
    rows = [("rope", 1.0, 0.5), ("min_gru", 1.0, 0.75), ("rope", 0.25, 1.0), ("min_gru", 0.5, 1.0), ("alibi", 1.0, 0.9)]
    shares = pd.DataFrame([(*row, row[2] - 0.25, row[2] + 0.25) for row in rows])
    shares.columns = ["variant", "load", "share", "ci_low", "ci_high"]
    assert by_load(of_open, shares) == [
        Dot("min gru", "0.0065 (open)", 98.0, 97.0, 99.0),
        Dot("rope", "0.0065 (open)", 99.0, 98.0, 100.0),
        Dot("rope", "0.25", 100.0, 75.0, 125.0),
        Dot("rope", "1", 50.0, 25.0, 75.0),
        Dot("min gru", "1", 75.0, 50.0, 100.0),
    ]


def test_a_report_without_a_variant_of_the_text_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "metrics", lambda selection: {"variants": {"rope": {}, "vanilla": {}}})
    with pytest.raises(StudyError, match="reports/unaided/compared: there is no synthesizer, of which the article's"):
        charts(["rope", "vanilla"])
