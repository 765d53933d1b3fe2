"""Digests of values and of files, in hex digits: what depends on the same has the same."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


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
