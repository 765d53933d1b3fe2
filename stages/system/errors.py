"""Errors: a user's mistake ends in one line and a non-zero exit code, never in a traceback.

Messages hold text of unknown origin as it is; what prints them on a terminal escapes it, once.
"""

import argparse
import functools
import io
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from stages.system.lifetime import hangup_is_ignored

# Control characters, what ends a line or sets the direction of all that follows, and halves of characters. Spaces,
# joiners and direction marks stay: Chinese, French, Persian and emoji have them
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST_LINE = 500  # characters


def harmless(text: str, kept: str = "") -> str:
    r"""Escape what a terminal would obey, as in `\x1b`, but for the characters in `kept`."""
    return UNSAFE.sub(lambda match: match[0] if match[0] in kept else repr(match[0])[1:-1], text)


def say(text: str, kept: str = "", end: str = "\n") -> None:
    """Print a text, escaped but for the characters in `kept`, on stdout."""
    print(harmless(text, kept), end=end, flush=True)


def tell(text: str) -> None:
    """Print an escaped line on stderr: a note beside the output."""
    print(harmless(text), file=sys.stderr, flush=True)


def tell_once(subject: str, text: str) -> None:
    """Tell it unless this process, or one that started it, has told of the subject."""
    name = f"KNOWLEDGE_ACCESS_TOLD_OF_{subject}"  # in the environment, which the processes started from here have, too
    if not os.environ.get(name):
        os.environ[name] = "yes"
        tell(text)


def quoted(text: str, limit: int = 60) -> str:
    """Quote at most `limit` characters of a text for a message."""
    return f"'{shortened(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of a text; an ellipsis stands for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


class UserError(Exception):
    """A mistake that its reader can mend: what is wrong, where (file:line or key), what to do."""


class Parser(argparse.ArgumentParser):
    """A parser of a command's options: its usage shows what people type, and an error is one line."""

    def __init__(self, description: str | None, epilog: str | None = None) -> None:
        spec = sys.modules["__main__"].__spec__  # Python before 3.14 would take the file's name
        called = "" if sys.argv[0].endswith(".py") else f" {sys.argv[0]}"  # a command of `python -m stages`
        name = spec.name.replace(".__main__", called) if spec else None
        super().__init__(f"python -m {name}" if spec else None, description=description, epilog=epilog)

    def error(self, message: str) -> NoReturn:
        """Print a short usage and the error, and exit with code 2."""
        self.exit(2, f"{self.format_usage()}{error_line(message)}\n")


def within(least: float, most: float, kind: Callable[[str], float] = int) -> Callable[[str], float]:
    """Return the type of an option whose number lies in this range; kind: what parses it, by default as an integer."""

    def number(text: str) -> float:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"was {value}; allowed: {least} to {most}")
        return value

    return number


def error_line(message: str) -> str:
    """Return an error as one line for a terminal, escaped: it may have the names of files, keys and options."""
    return shortened(harmless(f"error: {message}"), LONGEST_LINE)


def command(main: Callable[[], None]) -> Callable[[], None]:
    """Wrap the `main` of a stage so that foreseeable failures end in one line on stderr.

    Exit codes: 1 for a mistake or a failing disk, 130 after Ctrl-C, SIGTERM or a lost terminal. Context managers end
    before the exit, so that half-written files are removed.
    """

    @functools.wraps(main)
    def run() -> None:
        for stream in (sys.stdout, sys.stderr):  # its encoding may lack a letter
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if not hangup_is_ignored():
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # since the package was imported
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            try:
                main()
            finally:
                _flush()
        except UserError as error:
            sys.exit(error_line(str(error)))
        except BrokenPipeError:  # the reader has ended, as after `| head -1`
            sys.exit(1)
        except OSError as error:  # full disk, read-only folder, missing permission
            where = f"{error.filename}: " if error.filename else ""
            sys.exit(error_line(f"{where}{error.strerror or error}"))
        except (MemoryError, RuntimeError) as error:
            # torch need not be imported: its error is known by its text on a CPU, and by its name on a GPU
            of_torch = "can't allocate memory" in str(error) or type(error).__name__ == "OutOfMemoryError"
            if not (of_torch or isinstance(error, MemoryError)):
                raise
            sys.exit(
                "error: there is too little memory; ask for a smaller model, context, batch or number of hypotheses"
            )
        except KeyboardInterrupt as stop:
            print(str(stop) or "stopped", file=sys.stderr)
            sys.exit(130)

    return run


def _flush() -> None:
    """Flush stdout before the exit, after argparse's help too: there Python would print a traceback."""
    if sys.stdout:  # None where it was closed before the start
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest of the output
            raise
