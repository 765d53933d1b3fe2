"""Which model is asked where several are selected: the best by their report."""

import json
from pathlib import Path

import pytest

from stages.asking.options import chosen_variant
from stages.system.errors import StudyError
from tests.tiny import SETTINGS

REPORT = Path("reports/open/compared/metrics.json")


def chosen(selection: str) -> str:
    selected = SETTINGS.model.model_copy(update={"variant": selection})
    return chosen_variant(SETTINGS.model_copy(update={"model": selected}), "open")


def test_one_selected_variant_is_asked_else_the_best_of_the_selections_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    REPORT.parent.mkdir(parents=True)
    REPORT.write_text(json.dumps({"variants": {"rope": {"dev_accuracy": 40.0}, "vanilla": {"dev_accuracy": 60.0}}}))
    assert (chosen("rope"), chosen("compared")) == ("rope", "vanilla")
    for content in ("", "{}", "[]", '{"variants": {}}', '{"variants": {"rope": {}}}'):
        REPORT.write_text(content)
        with pytest.raises(StudyError, match=f"{REPORT} is missing or broken; name a variant with"):
            chosen("compared")
    with pytest.raises(StudyError, match=r"reports/open/all/metrics\.json is missing"):
        chosen("all")
