"""What the command says before any unit runs, and of a unit that loses its workers."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stages.scheduling.run import MOST_LOSSES, Run, connect, local
from stages.scheduling.schedule import Schedule, Unit
from stages.system.errors import StudyError
from tests.support.tiny import ROOT, SETTINGS


def test_without_dask_the_command_says_what_to_install_and_still_helps(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ModuleNotFoundError(\"No module named 'distributed'\")\n")

    def ended_with(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "stages", "cluster", *arguments]
        env = os.environ | {"PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
        return ended.returncode, ended.stdout + ended.stderr

    line = "error: No module named 'distributed'; run `pip install -r requirements-cluster.txt -c requirements.lock`\n"
    assert ended_with("--local", "2") == (1, line)
    code, output = ended_with("--help")
    assert code == 0 and output.startswith("usage: python -m stages cluster")


@pytest.mark.parametrize("address", ["machine", "http://machine:80", "tcp://127.0.0.1:1"])
def test_an_address_without_a_scheduler_is_told_in_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stages.scheduling.run.CONNECTED_WITHIN", 0.5)
    with pytest.raises(StudyError, match=f"no scheduler answers at {address}; start one with `dask scheduler`"):
        connect(address)


def test_a_unit_that_loses_three_workers_has_failed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    unit, client = Unit("a"), SimpleNamespace(cancel=lambda futures: None)
    schedule, pending = Schedule({"a": []}, ["a"], SETTINGS), SimpleNamespace(done=lambda: False)
    run = Run(client, schedule, tmp_path)  # type: ignore[arg-type]
    for number in range(MOST_LOSSES):
        assert schedule.ready() == [unit]
        future: Any = pending
        run.running[unit] = future, f"tcp://host:{number}", 0.0
        run._collect({"tcp://host:9": 1})
    assert schedule.failed == [unit] and schedule.ready() == []
    assert capsys.readouterr().out.splitlines()[-1] == f"failed   a: lost its worker {MOST_LOSSES} times"


def test_local_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stages.scheduling.run.CPU_COUNT", 5)
    with local(2) as cluster, connect(cluster) as client:
        client.wait_for_workers(2)
        assert [*client.nthreads().values()] == [2, 2]
