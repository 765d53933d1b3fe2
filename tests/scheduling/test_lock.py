"""Entries of the lock travel between clones in DVC's own format."""

from pathlib import Path

import yaml

from stages.scheduling.lock import entries, merge
from tests.support.tiny import ROOT

LOCK = "stages/dvc.lock"


def test_entries_merged_into_an_empty_clone_are_the_file_that_dvc_wrote(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    content = yaml.safe_load((ROOT / LOCK).read_text(encoding="utf-8"))
    ours = entries(ROOT, [f"stages/dvc.yaml:{name}" for name in content["stages"]])
    for stage, entry in ours.items():
        merge(tmp_path, stage, entry)
    assert (tmp_path / LOCK).read_text(encoding="utf-8") == (ROOT / LOCK).read_text(encoding="utf-8")


def test_a_newer_entry_takes_the_place_of_the_older_in_the_lock_of_its_own_file(tmp_path: Path) -> None:
    old, new, other = ({"cmd": command} for command in ("old", "new", "other"))
    (tmp_path / "stages").mkdir()
    for stage, entry in (("a", old), ("b", other), ("stages/dvc.yaml:a", other), ("a", new)):
        merge(tmp_path, stage, entry)
    assert entries(tmp_path, ["a", "b", "stages/dvc.yaml:a", "c"]) == {"a": new, "b": other, "stages/dvc.yaml:a": other}
    assert {path.name for path in tmp_path.rglob("*")} == {"dvc.lock", "stages"}
