"""Bars: one for a stage's jobs, and below it one for what each process does. In a log only the stage's is shown."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

tqdm.set_lock(threading.RLock())  # its own would be shared by processes, and a killed one would keep it
T = TypeVar("T")

IN_LOG = 15.0  # seconds between two lines
ON_TERMINAL = 0.5  # seconds between two looks of a bar
# The rate of steps is left out: a title takes half of 80 columns
STEPS = "{desc} |{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
JOBS = "{desc} |{bar}| [{elapsed}<{remaining}]"


class _Here:
    """How this process shows what it does: by itself, or as one of several that an executor started."""

    line = 0  # of the terminal
    report: Callable[[float], None] | None = None  # takes the share of the job that is done
    parts = 1  # bars of the job that is carried out
    ended = 0  # of these


def in_process(line: int, report: Callable[[float], None]) -> None:
    """Say that this process is one of several: where its bars stand, and what takes the share that is done."""
    _Here.line, _Here.report = line, report


def begin_job(parts: int) -> None:
    """Say how many bars the job that begins will have."""
    _Here.parts, _Here.ended = parts, 0


class Bar:
    """A bar, which also reports the share of the job that is done."""

    def __init__(self, shown: "tqdm[Any]", total: int, done: int) -> None:
        self.shown, self.total, self.done = shown, total, done

    def step(self) -> None:
        """Go on by one."""
        self.done += 1
        self.shown.update()
        if _Here.report:
            _Here.report((_Here.ended + self.done / self.total) / _Here.parts)

    def note(self, **figures: str) -> None:
        """Show figures at its end."""
        self.shown.set_postfix(figures, refresh=False)


@contextmanager
def bar(title: str, total: int, done: int = 0) -> Iterator[Bar]:
    """Show a bar while the block runs."""
    hidden = _Here.line > 0 and not sys.stderr.isatty()  # in a log of several processes
    with tqdm(
        total=total,
        initial=done,
        desc=title,
        bar_format=STEPS,
        mininterval=_seconds(),
        position=_Here.line,
        leave=not _Here.line,
        disable=hidden,
    ) as shown:
        yield Bar(shown, total, done)
    _Here.ended += 1


def counted(items: Sequence[T], title: str) -> Iterator[T]:
    """Yield items while a bar counts them."""
    with bar(title, len(items)) as shown:
        for item in items:
            yield item
            shown.step()


class JobsBar:
    """The bar of a stage or a study: which job of how many, and how long still, by what has been measured so far."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self.name, self.total, self.done = name, total, done
        often: dict[str, Any] = {"mininterval": _seconds(), "smoothing": 0, "miniters": 0}
        self.shown = tqdm(total=total, initial=done, desc=self._title(), bar_format=JOBS, position=0, **often)

    def _title(self) -> str:
        return f"{self.name}: job {min(self.done + 1, self.total)} of {self.total}"

    def end(self) -> None:
        """Count a job that ended."""
        self.done += 1
        self.show(0.0)

    def show(self, shares: float) -> None:
        """Show the bar; shares: the sum of what is done of the jobs that run."""
        self.shown.set_description_str(self._title(), refresh=False)
        self.shown.update(max(0.0, self.done + shares - self.shown.n))

    def close(self) -> None:
        self.shown.close()


def _seconds() -> float:
    """Return how long a bar waits until it is shown again."""
    return ON_TERMINAL if sys.stderr.isatty() else IN_LOG
