"""The commit that a result names, in a repository of its own."""

from pathlib import Path

import pytest

from stages.experiment.provenance import commit
from tests.support.project import git


def test_changed_code_has_a_plus_and_changed_locks_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    (tmp_path / "stages").mkdir()
    files = [tmp_path / name for name in ("stages/code.py", "stages/dvc.lock", "notes.md")]
    for file in files:
        file.write_text("first")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    assert commit() == head
    for file in files[1:]:
        file.write_text("changed")
    assert commit() == head
    files[0].write_text("changed")
    assert commit() == f"{head}+"
