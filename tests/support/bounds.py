"""What a command may take and say, whatever it is given."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 10
BYTES = 10**9
LONGEST_LINE = 500  # characters


@contextmanager
def bounded() -> Iterator[None]:
    """Fail a block that takes longer, or more memory than before."""

    def late(*_: object) -> None:
        raise AssertionError(f"still at it after {SECONDS} s")

    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, hard))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def assert_told(code: int, err: str) -> None:
    """A command succeeded, or its error is one line that a terminal can show and that is no lack of memory."""
    if code:
        *_, line = filter(None, err.splitlines())
        assert code in (1, 2) and "Traceback" not in err
        assert line.startswith("error: ") and line.isprintable() and len(line) <= LONGEST_LINE
        assert "too little memory" not in line


def contents(folder: Path) -> dict[Path, bytes]:
    """All files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
