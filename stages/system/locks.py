"""Locks, and the folder of unfinished work."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import gethostname

from filelock import FileLock, Timeout

from stages.system.errors import StudyError

# `dvc exp run --temp` and DVC's queue run a stage in a temporary copy of the project, and delete it afterwards. There
# DVC_ROOT names the project itself.
_ROOT = Path(os.environ.get("DVC_ROOT", "")).resolve()
WORK = (_ROOT if _ROOT in Path.cwd().parents else Path()) / "work"


@contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold a lock file while the block runs; wait `patience` seconds for a process that holds it.

    Raises StudyError: another process holds it. Raises OSError: it cannot be written; the error's filename is `path`.
    """
    with ExitStack() as held:
        try:
            held.enter_context(FileLock(path, timeout=patience))
            path.write_text(f"{os.getpid()} on {gethostname()}", encoding="utf-8")
        except Timeout as error:
            number, _, host = (holder := path.read_text(encoding="utf-8")).partition(" on ")
            who = f"process {holder}" if holder else "another process"
            end = f" or `kill {number}`" if host == gethostname() else ""
            raise StudyError(f"{path.parent}: {who} is at work here already; wait for it{end}") from error
        except OSError as error:
            error.filename = str(path)
            raise
        yield
