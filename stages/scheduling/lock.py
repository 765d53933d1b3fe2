"""Entries of dvc.lock, taken out of one clone and put into another in DVC's own format.

A worker's result is pinned by its entry: it names the outputs by their hashes. DVC's run-cache alone would restore the
newest run of a stage, which need not be the one that others built on.

A worker gets this module by value and need not have the project: it imports nothing of it.
"""

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

LOCK = Path("stages", "dvc.lock")  # it has all stages with cached outputs


def entries(root: Path, stages: Iterable[str]) -> dict[str, str]:
    """Read the entries, as YAML, of those stages that have one; a stage is named as for `dvc repro`: [file:]name."""
    path = root / LOCK
    result = {}
    lock = YAML().load(path)["stages"] if path.exists() else {}
    for stage in stages:
        if name_of(stage) in lock:
            YAML().dump(lock[name_of(stage)], text := io.StringIO())
            result[stage] = text.getvalue()
    return result


def merge(root: Path, new: Mapping[str, str]) -> None:
    """Enter these entries in the lock of a clone, in the place of older ones."""
    path = root / LOCK
    lock: Any = YAML().load(path) if path.exists() else {"schema": "2.0", "stages": {}}
    lock["stages"].update({name_of(stage): YAML().load(entry) for stage, entry in new.items()})
    partial = path.with_name(f".{path.name}.partial")
    YAML().dump(lock, partial)
    partial.replace(path)


def reads_the_same(entry: str, above: Iterable[str]) -> bool:
    """Whether a stage read, when its entry was written, what the entries above it name now."""
    yaml = YAML(typ="safe")
    made = {out["path"]: out["md5"] for made_above in above for out in yaml.load(made_above)["outs"]}
    read = {dep["path"]: dep.get("md5") for dep in yaml.load(entry)["deps"]}
    return all(read.get(path) == md5 for path, md5 in made.items())


def name_of(stage: str) -> str:
    """Cut the file off a stage's name."""
    return stage.rpartition(":")[2]
