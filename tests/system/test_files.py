"""A write that fails or is killed leaves the old content, and nothing for long."""

import errno
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stages.system.files import new_folder, write_text
from tests.support.tiny import ROOT

# Writes the target named first, and kills itself at the moment named second
WRITER = """
import os, signal, sys
from pathlib import Path
from stages.system.files import new_folder, write_text
target, moment = Path(sys.argv[1]), sys.argv[2]
def end(*_): os.kill(os.getpid(), signal.SIGKILL)
if moment == "file":
    os.fsync = end
    write_text(target, "new")
with new_folder(target) as folder:
    (folder / "a").write_text("new")
    if moment == "folder":
        end()
    replace = os.replace
    os.replace = lambda one, other: (replace(one, other), end())
"""


def write(target: Path, kind: str, content: str) -> None:
    """Write a file, or a folder with one."""
    if kind == "file":
        write_text(target, content)
    else:
        with new_folder(target) as folder:
            (folder / "a").write_text(content, encoding="utf-8")


def read(target: Path) -> str:
    return (target if target.is_file() else target / "a").read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", ["file", "folder", "between the renames"])
def test_what_kills_left_is_gone_with_the_next_write(tmp_path: Path, moment: str) -> None:
    target = tmp_path / "t"
    write(target, moment, "first")
    ended = subprocess.run([sys.executable, "-c", WRITER, str(target), moment], cwd=ROOT)
    assert ended.returncode < 0
    assert [path.name for path in tmp_path.iterdir() if path != target] == [".t.partial"]  # which git and DVC ignore
    if moment != "between the renames":
        assert read(target) == "first"
    write(target, moment, "last")
    assert list(tmp_path.iterdir()) == [target] and read(target) == "last"


@pytest.mark.parametrize("which", [0, 1])
def test_what_stood_there_stays_where_a_rename_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    write(tmp_path / "t", "folder", "first")
    renames, replace = itertools.count(), os.replace

    def fails(one: Path, other: Path) -> None:
        if next(renames) == which:
            raise OSError(errno.EIO, "a disk error")
        replace(one, other)

    with monkeypatch.context() as disk:
        disk.setattr("os.replace", fails)
        with pytest.raises(OSError, match="a disk error"):
            write(tmp_path / "t", "folder", "new")
    assert list(tmp_path.iterdir()) == [tmp_path / "t"] and read(tmp_path / "t") == "first"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_error_names_the_target(tmp_path: Path, kind: str) -> None:
    (tmp_path / "t").write_text("a file where the folder should be")
    target = tmp_path / "t" / "made"
    with pytest.raises((NotADirectoryError, FileExistsError)) as fault:
        write(target, kind, "new")
    assert fault.value.filename == str(target)
