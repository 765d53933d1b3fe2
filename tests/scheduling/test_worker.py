"""What a worker looks at before it serves, and how its failures are told."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stages.scheduling.run import Run
from stages.scheduling.schedule import Unit
from stages.scheduling.worker import Snapshot
from tests.support.project import nobody


def set_up(folder: Path, cache: Path | None) -> Snapshot:
    snapshot = Snapshot("study", b"", b"", str(cache) if cache else None, str(folder), "")
    worker: Any = SimpleNamespace(local_directory=str(folder))
    asyncio.run(snapshot.setup(worker))
    return snapshot


def test_a_worker_whose_user_has_no_home_folder_serves_where_folders_are_shared_else_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody(monkeypatch)
    (tmp_path / "study").touch()
    assert set_up(tmp_path, tmp_path).trainings == tmp_path
    with pytest.raises(RuntimeError, match=r"no home folder; set XDG_CACHE_HOME there$"):
        set_up(tmp_path, None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert set_up(tmp_path, None).trainings == tmp_path / "knowledge-access" / "work"


def test_what_a_failed_command_said_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    stub: Any = SimpleNamespace(fail=lambda unit: None)
    Run(stub, stub, stub, False)._fail(Unit("a", 1), "error: \x1b[2J\nhost: log")
    assert capsys.readouterr().out == "failed   a seed 1:\n         error: \\x1b[2J\n         host: log\n"
