"""A write that is killed leaves nothing for long, and takes nothing from a process that still writes."""

import errno
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stages.system.files import new_folder, write_text
from tests.tiny import ROOT

WRITER = """
import os, sys, time
from pathlib import Path
from stages.system.files import new_folder, write_text
def stop():
    print("at it", flush=True)
    time.sleep(600)
target = Path(sys.argv[1])
if sys.argv[2] == "file":
    os.fsync = lambda handle: stop()
    write_text(target, "new")
else:
    with new_folder(target) as folder:
        write_text(folder / "a", "new")
        if sys.argv[2] == "swap":
            replace = os.replace
            os.replace = lambda one, other: (replace(one, other), stop())
        else:
            stop()
"""


@contextmanager
def writing(target: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    """A process that stands still in the middle of writing `target`."""
    command = [sys.executable, "-c", WRITER, str(target), what]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "at it\n"
            yield process
        finally:
            process.kill()


def left(target: Path) -> list[Path]:
    """What stands beside the target."""
    return [path for path in target.parent.iterdir() if path != target]


def write(target: Path, what: str) -> None:
    """Write it as the process would have."""
    if what == "file":
        write_text(target, "last")
    else:
        with new_folder(target) as folder:
            write_text(folder / "a", "last")


def read(target: Path) -> str:
    """What it holds."""
    return (target if target.is_file() else target / "a").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["file", "folder", "swap"])
def test_the_next_write_sweeps_what_kills_left(tmp_path: Path, what: str) -> None:
    target = tmp_path / "t[1]"
    for _ in range(2):
        write(target, what)
        with writing(target, what) as process:
            process.kill()
            process.wait()
        assert left(target)
    write(target, what)
    assert left(target) == [] and read(target) == "last"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_another_process_is_writing_stays(tmp_path: Path, what: str) -> None:
    target = tmp_path / "t"
    with writing(target, what):
        (unfinished,) = left(target)
        write(target, what)
        assert left(target) == [unfinished] and read(target) == "last"


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, os.strerror(errno.EIO))])
def test_what_stood_there_stays_where_the_exchange_fails(
    tmp_path: Path, failing: int, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, rename, calls = tmp_path / "t", os.replace, itertools.count(1)
    write(target, "folder")
    (target / "a").write_text("before", encoding="utf-8")

    def fail(one: str, other: str) -> None:
        if next(calls) == failing:
            raise error
        rename(one, other)

    with monkeypatch.context() as disk:
        disk.setattr("stages.system.files.os.replace", fail)
        disk.setattr(
            "stages.system.files.write_bytes", lambda path, content: path.write_bytes(content)
        )  # renames nothing
        with pytest.raises(type(error)):
            write(target, "folder")
    assert left(target) == [] and read(target) == "before"


def test_what_only_looks_alike_stays(tmp_path: Path) -> None:
    others = [".t.short", ".u.12345678", ".t.x.12345678", "t.12345678"]
    for name in others:
        (tmp_path / name).write_text("", encoding="utf-8")
    write_text(tmp_path / "t", "last")
    with new_folder(tmp_path / "v"):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "t", "v"])
