"""The pipeline: a module for each stage, the studies beside it, and the packages that they share."""

import os
import signal
import sys
from types import TracebackType

IS_COMMAND = sys.argv[:1] == ["-m"]  # `python -m stages…`; false where a notebook or a test imports the package

# While a stage imports torch, for seconds, Ctrl-C ends it without a traceback; `errors.command` then handles it.
if IS_COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# Reports draw into files. A command that a notebook starts inherits its kernel's backend, which need not exist here.
if IS_COMMAND:
    os.environ["MPLBACKEND"] = "agg"


def _without_the_environment(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Tell in one line that a package is missing, as under another Python than the environment's."""
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("stages"):
        print(f"error: {error}; activate the environment: source .venv/bin/activate", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)


if IS_COMMAND:
    sys.excepthook = _without_the_environment

STARTED_BY = os.getppid()  # before the imports, which take seconds: the parent may end meanwhile

# How long a thread spins for the others before it sleeps, in turns of some nanoseconds; GCC's OpenMP runtime reads it
# when torch is imported. A training step on two cores takes 0.266 s with none, 0.254 s with this and 0.250 s with the
# default of 300000; beside another busy process 0.47, 0.58 and 0.69 s.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
