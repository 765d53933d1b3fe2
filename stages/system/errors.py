"""How a user's mistake is told: one line, a non-zero exit code, never a traceback."""

import functools
import signal
import sys
from collections.abc import Callable


class StudyError(Exception):
    """A mistake that its reader can mend: what is wrong, where (file:line or key), what to do."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was asked for that there is not, of the system or of a GPU."""
    # torch is not imported for this: on a CPU it raises a plain RuntimeError, on a GPU its own kind of one
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )


def command(main: Callable[[], None]) -> Callable[[], None]:
    """Wrap the `main` of a stage so that foreseeable failures end in one line on stderr.

    Exit codes: 1 for a mistake or a failing disk, 130 after Ctrl-C or SIGTERM. Both unwind, so that what is
    half written is removed.
    """

    @functools.wraps(main)
    def run() -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # since the package was imported
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            main()
        except StudyError as error:
            sys.exit(f"error: {error}")
        except OSError as error:  # full disk, read-only folder, missing permission
            where = f"{error.filename}: " if error.filename else ""
            sys.exit(f"error: {where}{error.strerror or error}")
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            sys.exit(
                "error: there is too little memory; ask for a smaller model, context, batch or number of hypotheses"
            )
        except KeyboardInterrupt as stop:
            print(str(stop) or "stopped", file=sys.stderr)
            sys.exit(130)

    return run
