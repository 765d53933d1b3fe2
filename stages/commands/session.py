"""Questions from the input; at a terminal with a prompt, a history and names to try."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from stages.commands.answers import usual
from stages.corpus.prepared import Prepared
from stages.system.locks import WORK
from stages.system.terminal import harmless

HISTORY = WORK / "questions.txt"
MOST_LINES = 1000  # of the history
NAMES = 3  # to try


def questions(prepared: Prepared, model: str) -> Iterator[str]:
    """The input's lines that are not blank, up to its end (Ctrl-D) or a line `quit`.

    model: which one answers; a terminal is told.
    """
    if sys.stdin is None:  # closed
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    keep, sign = _nothing, ""
    if typed := sys.stdin.isatty():
        for line in welcome(prepared, model):
            print(harmless(line), file=sys.stderr, flush=True)
        keep, sign = _history(), "> " if sys.stdout.isatty() else ""
    try:
        while (question := input(sign).strip()) != "quit":
            keep()
            if question:
                yield question
    except EOFError:
        if typed:  # what comes next begins on a line of its own
            print(file=sys.stderr)


def welcome(prepared: Prepared, model: str) -> tuple[str, ...]:
    """Who answers, what to ask, and the way out."""
    dev = prepared.of_split("dev")
    names = dev.name[dev.name != dev.question].drop_duplicates()  # a question that names no page is about itself
    tried = ", ".join(names.sample(min(NAMES, len(names))))
    return f"Model: {model}", f"Ask: {usual(prepared)}", f"Names to try: {tried}", "`quit` or Ctrl-D ends"


def _history() -> Callable[[], None]:
    """Let the arrow keys bring back questions, those of earlier sessions, too; returns what keeps this one's."""
    try:
        import readline
    except ImportError:  # Windows
        return _nothing

    def keep() -> None:
        with suppress(OSError):
            readline.write_history_file(HISTORY)

    readline.set_history_length(MOST_LINES)
    with suppress(OSError):  # there is none yet
        WORK.mkdir(exist_ok=True)
        readline.read_history_file(HISTORY)
    return keep


def _nothing() -> None:
    """Where nothing is kept."""
