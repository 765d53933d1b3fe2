"""The stage `report`: the page of the selected recipe and variants, and its figures at the project's root."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stages import report
from tests.support.example import write_baseline, write_variant
from tests.support.project import environment, write_params
from tests.support.talking import Outcome, Run, error
from tests.support.tiny import ROOT


def evaluated(folder: Path) -> None:
    """A project in which rope, the only variant compared, answers everything after pretraining."""
    write_params(folder, values={"model.compared": ["rope"]})
    evaluations = folder / "data/evaluations/quick/compared"
    write_baseline(evaluations)
    write_variant(evaluations, "rope", ([0] * 10,), ([1] * 10,))
    (folder / "data/baseline").mkdir()
    (evaluations / "baseline").rename(folder / "data/baseline/quick")


def test_the_figures_reach_the_root_and_are_printed(tmp_path: Path, run_in: Run) -> None:
    evaluated(tmp_path)
    printed = run_in(tmp_path, report).out
    of_report = tmp_path / "reports/quick/compared/metrics.json"
    assert (tmp_path / "metrics.json").read_bytes() == of_report.read_bytes()
    assert json.loads((tmp_path / "metrics/report.json").read_text()) == {"low": 72.247, "high": 100}
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("rope")]
    assert row == ["rope", "0.0", "100.0", "72.25", "100.0"]  # Wilson: 10 / (10 + 3.8415)


def test_where_says_where_the_selected_report_lies_and_writes_nothing(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, values={"recipe": "open", "model.variant": "rope"})
    assert error(run_in(tmp_path, report, "--where")) == "error: reports/open/rope has no report; `dvc repro` makes it"
    page = tmp_path / "reports/open/rope/index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    printed = "report: reports/open/rope/report.md, for a browser: reports/open/rope/index.html\n"
    assert run_in(tmp_path, report, "--where") == Outcome(0, printed, "")
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", "reports"}
    assert [*(tmp_path / "reports").rglob("*.*")] == [page]


@pytest.mark.parametrize("backend", ["nonsense", "module://absent.backend_inline"])
def test_pictures_are_drawn_whatever_backend_a_notebook_left_in_the_environment(tmp_path: Path, backend: str) -> None:
    evaluated(tmp_path)
    settings = environment(PYTHONPATH=str(ROOT), MPLBACKEND=backend)
    command = [sys.executable, "-m", "stages.report"]
    ended = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "reports/quick/compared/accuracy.svg").exists()
