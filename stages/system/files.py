"""Atomic writes: a reader finds the old content, the new or, for a folder, for a moment none; never a part of it."""

import fcntl
import glob
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stages.system.errors import StudyError


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` by way of a temporary file in the same folder and a rename.

    Raises:
        OSError: it cannot be written; the error's filename is `path`, whose old content stays.
    """
    with _named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                _hold(handle)
                _sweep(path)
                file.write(content)
                file.flush()
                os.fsync(handle)
                os.fchmod(handle, 0o644)  # mkstemp makes private files
                os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _hold(handle: int) -> None:
    """Say that something is being written, until it is closed or the process ends."""
    with suppress(OSError):  # a file system without locks: nothing is swept there
        fcntl.flock(handle, fcntl.LOCK_EX)


def _sweep(path: Path) -> None:
    """Delete what kills in the middle of a write to `path` left beside it, but nothing that a process holds."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????"):
        with suppress(OSError):  # gone by now, or held: BlockingIOError
            handle = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
            finally:
                os.close(handle)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors of the system name `path`, not the temporary file that stands for it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_text(path: Path, content: str) -> None:
    """Write `content` as UTF-8 with the line endings it has."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with a final newline."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file written by `write_json`."""
    return json.loads(path.read_text(encoding="utf-8"))


def folder_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a folder's files, in hex digits.

    Raises:
        StudyError: there are none.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise StudyError(f"{folder} is missing; `dvc repro` makes it")
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder that replaces `path` only when the block ends without an error.

    Raises:
        OSError: it cannot be written; the error's filename is `path`, or what would be a file in it.
    """
    with _named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    os.chmod(temporary, 0o755)  # mkdtemp makes private folders
    handle = os.open(temporary, os.O_RDONLY)
    old = None  # where what stands there goes in the moment of the exchange
    try:
        _hold(handle)
        _sweep(path)
        yield temporary
        if path.is_symlink() or path.is_file():
            path.unlink()
        if path.is_dir():
            old = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.")
            os.replace(path, old)
        os.replace(temporary, path)
        _sweep(path)  # of what stood there
    except BaseException as error:
        with suppress(OSError):
            if old and path.exists():
                os.rmdir(old)  # nothing was moved there; what was is left to the next write
            elif old:
                os.replace(old, path)
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError) and Path(str(error.filename)).is_relative_to(temporary):
            error.filename = str(path / Path(error.filename).relative_to(temporary))
        raise
    finally:
        os.close(handle)
