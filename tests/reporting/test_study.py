"""The selected report's figures reach the project's root."""

import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from stages import study
from stages.reporting.evaluations import read_evaluation
from stages.reporting.folder import write_report
from stages.reporting.metrics import study_metrics, summarise
from tests.support.example import BASELINE, SHOWN, write_baseline, write_variant
from tests.support.project import write_params


def test_study_copies_the_metrics_and_prints_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluations, report = tmp_path / "evaluations", tmp_path / "reports" / "quick" / "compared"
    write_baseline(evaluations)
    write_variant(evaluations, "rope", ([0] * 10,), ([1] * 10,))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["study", "--recipe", "quick", "--variant", "compared"])
    with pytest.raises(SystemExit, match=r"reports/quick/compared/metrics\.json is missing; `dvc repro` makes it"):
        study.main()
    write_report(evaluations, report, "quick", "compared", ["rope"], settings=SHOWN)
    study.main()
    assert (tmp_path / "metrics.json").read_bytes() == (report / "metrics.json").read_bytes()
    assert json.loads((tmp_path / "selected.json").read_text())["rope"] == 100
    printed = capsys.readouterr().out
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("rope")]
    assert row == ["rope", "0.0", "100.0", "72.25", "100.0"]  # Wilson: 10 / (10 + 3.8415)


def sound() -> dict[str, Any]:
    """A metrics.json with all figures that the project has, those that were added among them."""
    with TemporaryDirectory() as folder:
        write_variant(Path(folder), "rope", ([0] * 10,), ([1] * 10,))
        return study_metrics("quick", "compared", [summarise(read_evaluation(Path(folder, "rope")), 10)], BASELINE)


SOUND = sound()


def with_value(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A sound metrics.json but for one value."""
    content = json.loads(json.dumps(SOUND))
    reduce(getitem, path[:-1], content)[path[-1]] = value
    return content


BROKEN = [
    *([1], {**SOUND, "variants": [1]}, {**SOUND, "variants": {"rope": None}}, {**SOUND, "selected": "rope"}),
    *(with_value(("variants", "rope", "dev_accuracy_ci_low"), value) for value in ("50", None, [], True, 10**400)),
    *(with_value((part, "dev_accuracy"), float("nan")) for part in ("baseline", "reader", "selected")),
    *(with_value((*part, "later"), "new") for part in (("selected",), ("variants", "rope"))),
    *(with_value(("variants", name), SOUND["selected"]) for name in ("\ud800", "\x1b[2J", "")),
]


@pytest.mark.parametrize("content", BROKEN)
def test_a_report_that_is_not_sound_is_told_in_one_line_and_nothing_is_overwritten(
    content: Any, tmp_path: Path, run_study: Callable[[Any], None]
) -> None:
    run_study(SOUND)
    before = [(tmp_path / name).read_bytes() for name in ("metrics.json", "selected.json")]
    with pytest.raises(
        SystemExit, match=r"error: reports/quick/compared/metrics\.json is damaged .*dvc repro"
    ) as ended:
        run_study(content)
    assert str(ended.value).isprintable()
    assert [(tmp_path / name).read_bytes() for name in ("metrics.json", "selected.json")] == before


def test_figures_of_later_code_do_no_harm(run_study: Callable[[Any], None], capsys: pytest.CaptureFixture[str]) -> None:
    run_study(with_value(("variants", "rope"), dict.fromkeys((*SOUND["selected"], "later"), 7)))
    assert capsys.readouterr().out.splitlines()[1].split() == ["rope", "7", "7", "7", "7"]


@pytest.fixture(name="run_study")
def run_study_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Run the stage on a report with this metrics.json."""
    path = tmp_path / "reports" / "quick" / "compared" / "metrics.json"
    path.parent.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["study", "--recipe", "quick", "--variant", "compared"])

    def run(content: Any) -> None:
        path.write_text(json.dumps(content), encoding="utf-8")
        study.main()

    return run


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
