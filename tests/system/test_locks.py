"""A lock names its holder."""

from pathlib import Path

import pytest

from stages.system import files as locks
from stages.system.errors import StudyError
from stages.system.files import locked


def test_a_process_of_another_machine_is_not_to_be_killed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "gethostname", lambda: "one")
    monkeypatch.setattr("os.getpid", lambda: 4711)
    with locked(tmp_path / "lock"):
        with (
            pytest.raises(StudyError, match=r"process 4711 on one is at work .* or `kill 4711`$"),
            locked(tmp_path / "lock"),
        ):
            pass
        monkeypatch.setattr(locks, "gethostname", lambda: "two")
        with (
            pytest.raises(StudyError, match=r"process 4711 on one is at work here already; wait for it$"),
            locked(tmp_path / "lock"),
        ):
            pass
