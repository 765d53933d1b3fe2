"""Work folders: where a training lies, unfinished until it goes on, and kept when it has ended.

DVC deletes a stage's outputs before it reruns the stage, so checkpoints lie outside of them, in
work/<stage>-<recipe>-<variant>-<key>. The key is a hash of everything the result depends on: a training with
other code, settings, data, kind of device, torch or numpy gets another folder and never continues from a foreign
checkpoint.

What ended stays there, so that a further seed is trained alone.
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
HARMLESS = ("settings", "system")  # say nothing of a result that its settings do not
PACKAGE = Path(__file__).resolve().parents[1]


def folder_of(name: str, settings: Any, *data: Path) -> Path:
    """The work folder of a training, made if it was not there.

    settings: JSON values that the result depends on; data: the folders of files it depends on. The code it
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
    """The files of the project's modules that this process has loaded."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in ("stages", "__main__")]
    files = {Path(file).resolve() for module in modules if (file := getattr(module, "__file__", None))}
    own = (file for file in files if file.is_relative_to(PACKAGE))
    return sorted(file for file in own if file.relative_to(PACKAGE).parts[0] not in HARMLESS)
