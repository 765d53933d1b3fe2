"""The selected report's figures reach the project's root."""

import json
from pathlib import Path

import pytest

from stages import study
from stages.reporting.folder import write_report
from tests.project import write_params
from tests.reporting.example import SHOWN, write_baseline, write_variant


def test_study_copies_the_metrics_and_prints_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluations, report = tmp_path / "evaluations", tmp_path / "reports" / "quick" / "compared"
    write_baseline(evaluations)
    write_variant(evaluations, "rope", ([0] * 10,), ([1] * 10,))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["study", "--recipe", "quick", "--variant", "compared"])
    with pytest.raises(SystemExit, match=r"reports/quick/compared/metrics\.json: missing; make it with: dvc repro"):
        study.main()
    write_report(evaluations, report, "quick", "compared", ["rope"], settings=SHOWN)
    study.main()
    assert (tmp_path / "metrics.json").read_bytes() == (report / "metrics.json").read_bytes()
    assert json.loads((tmp_path / "selected.json").read_text())["rope"] == 100
    printed = capsys.readouterr().out
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("rope")]
    assert row == ["rope", "0.0", "100.0", "72.25", "100.0"]  # Wilson: 10 / (10 + 3.8415)


def test_without_options_study_says_where_the_selected_report_lies_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_params(tmp_path, lambda content: content.update(recipe="open", model={"variant": "rope"}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["study"])
    study.main()
    told = "report: reports/open/rope/report.md, for a browser: reports/open/rope/index.html\n"
    assert capsys.readouterr() == (told, "")
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]
