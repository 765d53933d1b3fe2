"""Entries of dvc.lock, taken out of one clone and put into another in DVC's own format.

A result made elsewhere is pinned by its entry, which names the outputs by their hashes. DVC's run-cache alone would
restore the newest run of a stage, which need not be the one that others built on.
"""

from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from stages.system.files import write_text

Entry = dict[str, Any]  # of one stage: cmd, deps, params and outs


def entry_of(root: Path, stage: str) -> Entry | None:
    """Read a stage's entry, if it has one; the stage is named as for `dvc repro`: [file:]name."""
    return _read(_lock_of(root, stage))["stages"].get(name_of(stage))


def merge(root: Path, stage: str, entry: Entry) -> None:
    """Write a stage's entry into the lock of a clone, in place of an older one."""
    path = _lock_of(root, stage)
    lock = _read(path)
    lock["stages"][name_of(stage)] = entry
    text = StringIO()
    YAML().dump(lock, text)
    write_text(path, text.getvalue())


def name_of(stage: str) -> str:
    """Cut the file off a stage's name."""
    return stage.rpartition(":")[2]


def cell_of(stage: str) -> tuple[str, str, str]:
    """Return what a stage `kind@recipe-variant` does, and the names of recipe and variant, which have no hyphen."""
    kind, _, cell = name_of(stage).partition("@")
    recipe, _, variant = cell.partition("-")
    return kind, recipe, variant


def _lock_of(root: Path, stage: str) -> Path:
    return (root / (stage.rpartition(":")[0] or "dvc.yaml")).with_suffix(".lock")


def _read(path: Path) -> dict[str, Any]:
    return YAML(typ="safe").load(path) if path.exists() else {"schema": "2.0", "stages": {}}
