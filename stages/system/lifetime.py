"""How long a training runs: to its end, until somebody stops it, or until the process that started it is gone.

DVC runs a stage through a shell, which stays or becomes the stage; a killed DVC ends neither. A training that went on
alone would use the machine unseen and refuse the next `dvc repro`. So it stops when its parent, or a parent of
the shells above it up to the first process that is no shell, is gone. One started by hand under nohup goes on.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "sh", "zsh"})


class ParentProcess:
    """What started this process: its parent and, above shells, their parents, as they are now."""

    def __init__(self) -> None:
        by_dvc = "DVC_STAGE" in os.environ
        self.left_alone = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN and not by_dvc  # nohup
        self.line = _line()
        self.lost = by_dvc and any(_adopted(child, parent) for child, parent in pairwise(self.line))

    def gone(self) -> bool:
        """Whether a process of the line has ended: the system then gives its child another parent."""
        if self.left_alone:
            return False
        return self.lost or any(_parent(child) != parent for child, parent in pairwise(self.line))


class Stop:
    """Why a training ends early: Ctrl-C or SIGTERM, or that its parent_process is gone."""

    def __init__(self, parent_process: ParentProcess) -> None:
        self.parent_process = parent_process
        self.signals: list[int] = []

    def wanted(self) -> bool:
        """Whether to stop after the step in hand."""
        return bool(self.signals) or self.parent_process.gone()

    @property
    def reason(self) -> str:
        """What a user needs to know beside that it stopped."""
        return "" if self.signals else ", because the process that started it is gone"


@contextmanager
def stop_requests(parent_process: ParentProcess) -> Iterator[Stop]:
    """While the block runs, Ctrl-C and SIGTERM only leave a note, so that a step is never left half done."""
    stop = Stop(parent_process)
    signals = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, lambda received, _: stop.signals.append(received)) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, previous, strict=True):
            signal.signal(number, handler)


def _line() -> list[int]:
    """This process, its parent and, as long as the last one is a shell, its parent."""
    line = [os.getpid(), os.getppid()]
    while _name(line[-1]) in SHELLS and (parent := _parent(line[-1])):
        line.append(parent)
    return line


def _adopted(child: int, parent: int) -> bool:
    """Whether a parent took over an orphan: a session is left only by starting one.

    So it was when DVC died in the seconds of imports, before its stage could know it.
    """
    try:
        return os.getsid(child) not in (child, os.getsid(parent))
    except ProcessLookupError:
        return True


def _parent(process: int) -> int | None:
    """The parent of a process; none where it ended or the system has no /proc to say it."""
    if process == os.getpid():
        return os.getppid()
    status = _status(process)
    return int(status[1].split()[1]) if status else None


def _name(process: int) -> str:
    status = _status(process)
    return status[0] if status else ""


def _status(process: int) -> tuple[str, str] | None:
    """A process's name and what /proc says after it."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    before, _, after = text.rpartition(")")
    return before.partition("(")[2], after
