"""Entries of the lock travel between clones in DVC's own format."""

from pathlib import Path

import yaml

from stages.scheduling.lock import entry_of, merge
from tests.support.tiny import ROOT

LOCK = "stages/dvc.lock"


def test_entries_merged_into_an_empty_clone_are_the_file_that_dvc_wrote(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    content = yaml.safe_load((ROOT / LOCK).read_text(encoding="utf-8"))
    for name in content["stages"]:
        entry = entry_of(ROOT, f"stages/dvc.yaml:{name}")
        assert entry
        merge(tmp_path, f"stages/dvc.yaml:{name}", entry)
    assert (tmp_path / LOCK).read_text(encoding="utf-8") == (ROOT / LOCK).read_text(encoding="utf-8")


def test_a_newer_entry_takes_the_place_of_the_older_in_the_lock_of_its_own_file(tmp_path: Path) -> None:
    old, new, other = ({"cmd": command} for command in ("old", "new", "other"))
    (tmp_path / "stages").mkdir()
    for stage, entry in (("a", old), ("b", other), ("stages/dvc.yaml:a", other), ("a", new)):
        merge(tmp_path, stage, entry)
    stages = ("a", "b", "stages/dvc.yaml:a", "c")
    assert [entry_of(tmp_path, stage) for stage in stages] == [new, other, other, None]
    assert {path.name for path in tmp_path.rglob("*")} == {"dvc.lock", "stages"}
