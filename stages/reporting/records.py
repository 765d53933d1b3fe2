"""Machine-made files that a report is made of, and what is told where one is missing or broken."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stages.system.errors import StudyError

REMAKE = "make it with: dvc repro"


@contextmanager
def read_as_made(path: Path) -> Iterator[None]:
    """Tell in one line, as a StudyError, that a file is missing or not what the code in the block reads."""
    try:
        yield
    except FileNotFoundError:
        raise StudyError(f"{path}: missing; {REMAKE}") from None
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise StudyError(f"{path}: broken ({what}); {REMAKE}") from None
