"""Digests, by which a machine-made file is known to be as it was written.

A folder of results has SHA256SUMS and a training in `work` <name>.sha256, lists that `sha256sum --check` reads, too. A
file that stands alone ends with its own digest: it is sealed.
"""

import csv
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from stages.system.errors import StudyError
from stages.system.files import new_folder, write_bytes, write_text
from stages.system.terminal import shortened

SUMS = "SHA256SUMS"
SEAL = 32  # bytes
MOST_WHY = 200  # characters of what is wrong with a file
ODD = (ArithmeticError, LookupError, RecursionError, StopIteration, TypeError, ValueError, csv.Error, SafetensorError)


@contextmanager
def result_folder(path: Path) -> Iterator[Path]:
    """Fill a new folder that replaces `path` when the block ends well, with the digests of its files."""
    with new_folder(path) as folder:
        yield folder
        write_sums(folder / SUMS, sorted(folder.iterdir()))


def write_sums(sums: Path, files: Iterable[Path]) -> None:
    """Write the list of the digests of files in its folder."""
    write_text(sums, "".join(f"{_digest(file)}  {file.name}\n" for file in files))


def intact(sums: Path, *files: Path) -> bool:
    """Whether these files are there, and as the list says."""
    digests = _read(sums) if sums.is_file() else {}
    return all(file.is_file() and digests.get(file.name) == _digest(file) for file in files)


def verified(path: Path) -> Path:
    """Give the path back. Raises StudyError: the file is missing, or not as it was written."""
    own = path.with_suffix(".sha256")
    sums = own if own.exists() else path.with_name(SUMS)
    for needed in (path, sums):
        if not needed.exists():
            raise StudyError(f"{needed} is missing; `dvc repro` makes it")
    if not intact(sums, path):
        raise StudyError(f"{path} is damaged; delete it and run `dvc repro`")
    return path


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Call it damage to `path` if the code in the block cannot read it. Raises StudyError."""
    try:
        yield
    except ODD as error:
        why = " ".join(str(error).partition(" [type=")[0].split())  # a pydantic error's part that people read
        raise StudyError(f"{path} is damaged ({shortened(why, MOST_WHY)}); delete it and run `dvc repro`") from error


def write_sealed(path: Path, content: bytes) -> None:
    """Write content with its digest behind it."""
    write_bytes(path, content + hashlib.sha256(content).digest())


def read_sealed(path: Path) -> bytes | None:
    """Read the content of a sealed file; None where it is not as it was written."""
    if not path.is_file():
        return None
    sealed = path.read_bytes()
    content = sealed[:-SEAL]
    return content if hashlib.sha256(content).digest() == sealed[-SEAL:] else None


def _read(sums: Path) -> dict[str, str]:
    """Read a list's digests by the names of the files."""
    lines = (line.partition("  ") for line in sums.read_text(encoding="utf-8", errors="replace").splitlines())
    return {name: digest for digest, _, name in lines}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
