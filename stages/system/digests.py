"""Digests, which show whether a machine-made file is as it was written.

They are lists that `sha256sum --check` reads: SHA256SUMS in a folder of results, <name>.sha256 beside a training in
`work`. A file that stands alone ends with its own digest: it is sealed.
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
MOST_WHY = 200  # characters of the reason why a file is damaged
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
    """Return whether these files are there, with the digests of the list."""
    digests = {}
    if sums.is_file():
        for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
            digest, _, name = line.partition("  ")
            digests[name] = digest
    return all(file.is_file() and digests.get(file.name) == _digest(file) for file in files)


def verified(path: Path) -> Path:
    """Return the path of a file that is as it was written. Raises StudyError: it is missing or damaged."""
    own = path.with_suffix(".sha256")
    sums = own if own.exists() else path.with_name(SUMS)
    for needed in (path, sums):
        if not needed.exists():
            raise StudyError(f"{needed} is missing; `dvc repro` makes it")
    if not intact(sums, path):
        raise StudyError(f"{path} is damaged; delete it and run `dvc repro`")
    return path


@contextmanager
def as_written(path: Path, remedy: str = "delete it and run `dvc repro`") -> Iterator[None]:
    """Raise StudyError, which calls `path` damaged and names the remedy, if the code in the block cannot read it."""
    try:
        yield
    except ODD as error:
        why = " ".join(str(error).partition(" [type=")[0].split())  # the readable part of a pydantic error
        raise StudyError(f"{path} is damaged ({shortened(why, MOST_WHY)}); {remedy}") from error


def write_sealed(path: Path, content: bytes) -> None:
    """Write content with its digest behind it."""
    write_bytes(path, content + hashlib.sha256(content).digest())


def read_sealed(path: Path) -> bytes | None:
    """Read the content of a sealed file; None if it is missing or damaged."""
    if not path.is_file():
        return None
    sealed = path.read_bytes()
    content = sealed[:-SEAL]
    return content if hashlib.sha256(content).digest() == sealed[-SEAL:] else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
