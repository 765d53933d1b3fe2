"""Atomic writes: a reader sees the old content or the new, never a part; a folder may be missing for a moment.

One process at a time writes a path: a training holds its own lock, other stages hold DVC's. A killed process leaves
.<name>.partial beside the path until the next write.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` by way of a temporary file in the same folder and a rename.

    Raises OSError: it cannot be written; the error's filename is `path`, whose old content stays.
    """
    temporary = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def write_text(path: Path, content: str) -> None:
    """Write `content` as UTF-8 with the line endings it has."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with a final newline."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises ValueError: it is not JSON."""
    return json.loads(path.read_bytes())


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder that replaces `path` only when the block ends without an error.

    Raises OSError: it cannot be written; the error's filename is `path`, or what would be a file in it.
    """
    hidden = path.with_name(f".{path.name}.partial")
    new = hidden / "new"
    _tidy(hidden, path)  # after a kill
    try:
        new.mkdir(parents=True)
        yield new
        if os.path.lexists(path):
            os.replace(path, hidden / "old")  # renamed, as a reader would see a part of it while it is deleted
        os.replace(new, path)
    except OSError as error:
        if error.filename and Path(error.filename).is_relative_to(new):
            error.filename = str(path / Path(error.filename).relative_to(new))
        raise
    finally:
        _tidy(hidden, path)


def _tidy(hidden: Path, path: Path) -> None:
    """Delete the hidden folder beside `path`; put the old content back if only the first of the renames was done."""
    with suppress(OSError):
        if not os.path.lexists(path):
            os.replace(hidden / "old", path)
    shutil.rmtree(hidden, ignore_errors=True)
