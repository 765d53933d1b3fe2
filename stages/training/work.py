"""Folders of work: where a training lies, unfinished until it goes on, and kept when it has ended.

DVC deletes a stage's outputs before it reruns the stage, so checkpoints lie outside of them, in
work/<stage>-<recipe>-<variant>-<key>. The key is a digest of all that the result depends on: a training with other
code, settings, data, kind of device, torch or numpy has another folder, and never goes on from a foreign checkpoint.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy
import torch

from stages.system.files import folder_hash
from stages.system.locks import WORK

KEY_LENGTH = 16  # hex digits
HARMLESS = ("settings", "system")  # code that changes no result but through the settings
PACKAGE = Path(__file__).resolve().parents[1]


def work_folder(name: str, settings: Any, *data: Path) -> Path:
    """Return the folder of a training's work, made if it was not there.

    settings: JSON values that the result depends on; data: folders of files that it depends on. The code that it
    depends on is every module of the project that is loaded: import first.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    digest.update(f"{torch.__version__} {numpy.__version__}".encode())
    for path in _loaded_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for source in data:
        digest.update(folder_hash(source).encode())
    folder = WORK / f"{name}-{digest.hexdigest()[:KEY_LENGTH]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _loaded_sources() -> list[Path]:
    """Return the files of the project's modules that this process has loaded, but for those of HARMLESS folders."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in ("stages", "__main__")]
    files = {Path(file).resolve() for module in modules if (file := getattr(module, "__file__", None))}
    parts = {file: file.relative_to(PACKAGE).parts for file in files if file.is_relative_to(PACKAGE)}
    return sorted(file for file, folders in parts.items() if folders[0] not in HARMLESS)
