"""Files, written as a whole or not at all; locks, and digests that tell files apart."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import Any

from filelock import FileLock, Timeout

from stages.system.errors import UserError

METRICS = Path("metrics")
METRIC_DIGITS = 3
# `dvc exp run --temp` and DVC's queue run a stage in a temporary copy of the project, and delete it afterwards. There
# DVC_ROOT names the project itself.
_ROOT = Path(os.environ.get("DVC_ROOT", "")).resolve()
WORK = (_ROOT if _ROOT in Path.cwd().parents else Path()) / "work"
PREPARED = Path("data/prepared")  # a folder for each recipe (see `stages.corpus.prepared`)


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
    shutil.rmtree(hidden, ignore_errors=True)  # after a kill
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
        shutil.rmtree(hidden, ignore_errors=True)


def digest(content: Any) -> str:
    """Return the SHA-256 of JSON values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def files_digest(root: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256 of files: their names below `root` and their contents."""
    result = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        result.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        result.update(content)
    return result.hexdigest()


def write_metrics(stage: str, **figures: float) -> None:
    """Write the figures of a stage, percents or nats a character."""
    rounded = {name: round(figure, METRIC_DIGITS) for name, figure in figures.items()}
    write_json(METRICS / f"{stage}.json", rounded)


@contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold a lock file while the block runs; wait `patience` seconds for a process that holds it.

    Raises UserError: another process holds it. Raises OSError: it cannot be written.
    """
    try:
        held = FileLock(path).acquire(timeout=patience)
    except Timeout as error:
        number, _, host = (holder := path.read_text(encoding="utf-8")).partition(" on ")
        who = f"process {holder}" if holder else "another process"
        end = f" or `kill {number}`" if host == gethostname() else ""
        raise UserError(f"{path.parent}: {who} is at work here already; wait for it{end}") from error
    with held:
        path.write_text(f"{os.getpid()} on {gethostname()}", encoding="utf-8")
        yield
