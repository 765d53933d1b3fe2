"""What the command says before any unit runs, and of a unit that loses its workers."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stages.scheduling import home
from stages.scheduling.graph import Unit
from stages.scheduling.run import MOST_LOSSES, Dispatcher, complete, connect, local
from stages.system.errors import StudyError
from tests.support.project import write_params
from tests.support.tiny import ROOT


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


def dispatcher(folder: Path, graph: dict[Unit, list[Unit]]) -> Dispatcher:
    """A dispatcher whose client has a worker `w` that never begins."""
    pending = SimpleNamespace(done=lambda: False, status="pending")
    client: Any = SimpleNamespace(submit=lambda *_, **__: pending, cancel=lambda futures: None)
    return Dispatcher(client, graph, folder)


def ended(code: int) -> Any:
    return SimpleNamespace(status="finished", result=lambda: SimpleNamespace(returncode=code, stdout="", stderr="why"))


def test_a_unit_that_loses_three_workers_has_failed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    unit = Unit("a")
    run = dispatcher(tmp_path, {unit: []})
    for number in range(MOST_LOSSES):
        assert run.waiting == [unit]
        run._give_out({f"tcp://host:{number}": 1})
        run._collect({"tcp://host:9": 1})
    assert run.failed == [unit] and run.waiting == []
    assert capsys.readouterr().out.splitlines()[-1] == f"failed   a: lost its worker {MOST_LOSSES} times"


def test_below_a_failed_seed_nothing_runs_but_its_sisters_and_others_do(tmp_path: Path) -> None:
    first, second, whole, other, below = Unit("a", 1), Unit("a", 2), Unit("a"), Unit("b", 1), Unit("end")
    run = dispatcher(tmp_path, {first: [], second: [], other: [], whole: [first, second], below: [whole, other]})
    for unit, code in (first, 1), (second, 0), (other, 0):
        run._give_out({"w": 1})
        assert [*run.running] == [unit]
        del run.running[unit]
        run._end(unit, ended(code), 1.0)
    assert (run.failed, run.left, run.waiting) == ([first], [whole, below], [])


def test_local_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stages.scheduling.run.CPU_COUNT", 5)
    with local(2) as cluster, connect(cluster) as client:
        client.wait_for_workers(2)
        assert [*client.nthreads().values()] == [2, 2]


def test_a_target_without_cached_stages_restores_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path)
    monkeypatch.setattr(home, "upstream_of", lambda targets: {})
    monkeypatch.setattr(home, "run", lambda *command: pytest.fail(f"{command} takes no target for all"))
    complete(["stages/article/dvc.yaml:overview"], None, 1)
    assert capsys.readouterr().out == "0 of 0 cached stages to do\n"
