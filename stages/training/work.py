"""Folders of work: where a training lies, unfinished until it goes on, and kept when it has ended and is published.

DVC deletes a stage's outputs before it reruns the stage, so checkpoints lie outside of them, in
work/<stage>-<recipe>-<variant>-<key>. The key is a digest of all that the result depends on: a training with other
code, settings, data, kind of device, torch or numpy has another folder, and never goes on from a foreign checkpoint.
No torch: who only publishes need not load it.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stages.experiment.provenance import settings_digest
from stages.system.files import folder_hash, new_folder, read_json, write_bytes, write_json
from stages.system.locks import WORK, locked

KEY_LENGTH = 16  # hex digits
HARMLESS = ("settings", "system")  # code that changes no result but through the settings
SUFFIXES = ("json", "csv", "safetensors")  # facts, written last, curve and weights of an ended training
ORIGIN = ("vocabulary_sha256", "commit", "device", "precision", "kernels", "libraries")  # of a training's facts
PACKAGE = Path(__file__).resolve().parents[1]


def work_folder(name: str, settings: Any, *data: Path) -> Path:
    """Return the folder of a training's work, made if it was not there.

    settings: JSON values that the result depends on; data: folders of files that it depends on. The code that it
    depends on is every module of the project that is loaded: import first.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    digest.update(f"{version('torch')} {version('numpy')}".encode())
    for path in _loaded_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for source in data:
        digest.update(folder_hash(source).encode())
    folder = WORK / f"{name}-{digest.hexdigest()[:KEY_LENGTH]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _loaded_sources() -> list[Path]:
    """Return the files of the loaded modules, and the tables beside them, but for HARMLESS folders."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in ("stages", "__main__")]
    files = {Path(file).resolve() for module in modules if (file := getattr(module, "__file__", None))}
    files |= {table for folder in {file.parent for file in files} for table in folder.glob("*.yaml")}  # of the world
    parts = {file: file.relative_to(PACKAGE).parts for file in files if file.is_relative_to(PACKAGE)}
    return sorted(file for file, of in parts.items() if of[0] not in HARMLESS and file.name != "dvc.yaml")


def files_of(work: Path, name: str) -> list[Path]:
    """Return the files that the training `name` leaves when it has ended."""
    return [work / f"{name}.{suffix}" for suffix in SUFFIXES]


def publish(work: Path, names: Sequence[str], seeds: Sequence[int], output: Path) -> None:
    """Replace the folder `output` by the results of these trainings, what they depend on and where they come from."""
    facts = [read_json(work / f"{name}.json") for name in names]
    settings = facts[-1]["settings"] | {"seeds": [*seeds]}
    provenance = {
        "settings": settings,
        "params_sha256": settings_digest(settings),
        "seconds": round(sum(training["seconds"] for training in facts), 1),
        **{key: facts[-1][key] for key in ORIGIN},
    }

    with locked(work / "lock"), new_folder(output) as folder:
        for name in names:
            for path in files_of(work, name):
                write_bytes(folder / path.name, path.read_bytes())  # shutil.copy names the source if disks are full
        write_json(folder / "provenance.json", provenance)
