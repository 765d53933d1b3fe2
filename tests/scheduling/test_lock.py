"""Entries of the lock travel between clones in DVC's own format."""

from pathlib import Path

import yaml

from stages.scheduling.lock import entries, merge
from tests.support.tiny import ROOT

LOCK = "stages/dvc.lock"


def names() -> list[str]:
    """All stages of the project's own lock, as `dvc repro` names them."""
    content = yaml.safe_load((ROOT / LOCK).read_text(encoding="utf-8"))
    return [f"stages/dvc.yaml:{name}" for name in content["stages"]]


def test_entries_merged_into_an_empty_clone_are_the_file_that_dvc_wrote(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    merge(tmp_path, entries(ROOT, names()))
    assert (tmp_path / LOCK).read_text(encoding="utf-8") == (ROOT / LOCK).read_text(encoding="utf-8")


def test_a_newer_entry_takes_the_place_of_the_older_and_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    first, second, *_ = names()
    merge(tmp_path, {"a": "cmd: old\n", "b": "cmd: other\n"})
    merge(tmp_path, {"a": "cmd: new\n"})
    assert entries(tmp_path, ["a", "b", "unknown"]) == {"a": "cmd: new\n", "b": "cmd: other\n"}
    assert entries(tmp_path, [first, second]) == {}
    assert [path.name for path in (tmp_path / "stages").iterdir()] == ["dvc.lock"]
