"""Machine-made files that a report is made of, and what is told where one is missing or broken."""

from pathlib import Path
from typing import Any

from stages.system.errors import StudyError
from stages.system.files import read_json

REMAKE = "make it with: dvc repro"


def read_record(path: Path) -> Any:
    """Read a JSON file; raises StudyError where it is missing or no JSON."""
    try:
        return read_json(path)
    except (OSError, ValueError) as error:
        raise broken(path, error) from None


def broken(path: Path, error: Exception) -> StudyError:
    """What a reader is told of a file that is missing or lacks something."""
    if isinstance(error, FileNotFoundError):
        return StudyError(f"{path}: missing; {REMAKE}")
    what = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return StudyError(f"{path}: broken ({what}); {REMAKE}")
