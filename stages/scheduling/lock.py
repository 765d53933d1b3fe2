"""Entries of dvc.lock, taken out of one clone and put into another in DVC's own format.

A result made elsewhere is pinned by its entry, which names the outputs by their hashes. DVC's run-cache alone would
restore the newest run of a stage, which need not be the one that others built on.
"""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

Entry = dict[str, Any]  # of one stage: cmd, deps, params and outs


def entry_of(root: Path, stage: str) -> Entry | None:
    """Read a stage's entry, if it has one; the stage is named as for `dvc repro`: [file:]name."""
    return _read(_lock_of(root, stage))["stages"].get(name_of(stage))


def merge(root: Path, stage: str, entry: Entry) -> None:
    """Write a stage's entry into the lock of a clone, in place of an older one."""
    path = _lock_of(root, stage)
    lock = _read(path)
    lock["stages"][name_of(stage)] = entry
    partial = path.with_name(f".{path.name}.partial")
    YAML().dump(lock, partial)
    partial.replace(path)


def name_of(stage: str) -> str:
    """Cut the file off a stage's name."""
    return stage.rpartition(":")[2]


def _lock_of(root: Path, stage: str) -> Path:
    return (root / (stage.rpartition(":")[0] or "dvc.yaml")).with_suffix(".lock")


def _read(path: Path) -> dict[str, Any]:
    return YAML(typ="safe").load(path) if path.exists() else {"schema": "2.0", "stages": {}}
