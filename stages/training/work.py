"""Work folders: where an unfinished training lies until the same training goes on.

DVC deletes a stage's outputs before it reruns the stage, so checkpoints lie outside of them, in
work/<stage>-<recipe>-<variant>-<key>. The key is a hash of everything the result depends on: a training with
other code, settings, data, kind of device or torch gets another folder and never continues from a foreign checkpoint.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from stages.errors import StudyError

WORK = Path("work")
HARMLESS = ("settings.py", "errors.py", "files.py")  # say nothing of a result that its settings do not
PACKAGE = Path(__file__).resolve().parents[1]


@contextmanager
def work_folder(name: str, settings: Any, *data: Path) -> Iterator[Path]:
    """Hold the work folder of a training while the block runs; delete it when the block ends well.

    settings: JSON values that the result depends on; data: the folders of files it depends on. The code it
    depends on is every module of the project that is loaded: import first.

    Raises:
        StudyError: another process holds the folder.
    """
    key = _digest(settings, data)
    folder = WORK / f"{name}-{key[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        yield folder
        shutil.rmtree(folder)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise StudyError(
                f"{path.parent}: process {holder} is training here already; wait for it or `kill {holder}`"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _digest(settings: Any, data: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in _loaded_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for folder in data:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    digest.update(json.dumps(settings, sort_keys=True).encode())
    digest.update(torch.__version__.encode())
    return digest.hexdigest()


def _loaded_sources() -> list[Path]:
    """The files of the project's modules that this process has loaded."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in ("stages", "__main__")]
    files = {Path(module.__file__).resolve() for module in modules if module.__file__}
    return sorted(file for file in files if file.is_relative_to(PACKAGE) and file.name not in HARMLESS)
