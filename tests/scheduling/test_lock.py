"""Entries of the lock travel between clones in DVC's own format."""

from pathlib import Path

import yaml

from stages.scheduling.lock import entries, merge
from tests.tiny import ROOT

LOCKS = ("dvc.lock", "stages/dvc.lock")


def names() -> list[str]:
    """All stages of the project's own locks, as `dvc repro` names them."""
    found = []
    for lock in LOCKS:
        file = "" if lock == "dvc.lock" else "stages/dvc.yaml:"
        found += [file + name for name in yaml.safe_load((ROOT / lock).read_text(encoding="utf-8"))["stages"]]
    return found


def test_entries_merged_into_an_empty_clone_are_the_file_that_dvc_wrote(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    merge(tmp_path, entries(ROOT, names()))
    for lock in LOCKS:
        assert (tmp_path / lock).read_text(encoding="utf-8") == (ROOT / lock).read_text(encoding="utf-8")


def test_a_newer_entry_takes_the_place_of_the_older_and_leaves_the_others(tmp_path: Path) -> None:
    first, second, *_ = names()
    merge(tmp_path, {"a": "cmd: old\n", "b": "cmd: other\n"})
    merge(tmp_path, {"a": "cmd: new\n"})
    assert entries(tmp_path, ["a", "b", "unknown"]) == {"a": "cmd: new\n", "b": "cmd: other\n"}
    assert entries(tmp_path, [first, second]) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["dvc.lock"]
