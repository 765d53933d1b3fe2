"""Fixtures: a project of its own in which stages have run, and its commands as people use them."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import copy_stages, environment, with_sums, write_params
from tests.support.talking import RHYME, RUN, STAGES, ChangeParams, Outcome, Run, tiny
from tests.support.tiny import tiny_prepared


@pytest.fixture(scope="session", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talk") / "project"
    folder.mkdir()
    copy_stages(folder)
    write_params(folder, tiny)
    (folder / "rhyme.txt").write_text(RHYME * 10)
    prepared = folder / "data" / "prepared" / "quick"
    prepared.mkdir(parents=True)
    tiny_prepared().save(prepared)
    with_sums(prepared)
    (folder / "run.py").write_text(RUN)
    command = [sys.executable, "run.py", *STAGES]
    ended = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    report = folder / "reports" / "quick" / "compared"
    report.mkdir(parents=True)
    accuracies = {"rope": {"dev_accuracy": 40.0}, "vanilla": {"dev_accuracy": 60.0}}
    (report / "metrics.json").write_text(json.dumps({"variants": accuracies}))
    return folder


@pytest.fixture(name="change")
def change_fixture(project: Path) -> Iterator[ChangeParams]:
    """Give settings of the project other values, by dotted key, until the test ends."""
    yield partial(write_params, project, tiny)
    write_params(project, tiny)


@pytest.fixture(name="run_in")
def run_in_fixture(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command's main in a folder with arguments and an input."""

    def run(folder: Path, command: Any, *arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.argv", [command.__name__, *arguments])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = 0
        try:
            command.main()
        except SystemExit as stop:
            code = 1 if isinstance(stop.code, str) else int(stop.code or 0)
            print(stop.code if isinstance(stop.code, str) else "", file=sys.stderr)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(name="run")
def run_fixture(project: Path, run_in: Run) -> Run:
    """Run a command's main in the project."""
    return partial(run_in, project)
