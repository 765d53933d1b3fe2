"""What machines made and something changed since is never read."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.system.digests import SUMS, read_sealed, result_folder, verified, write_sealed
from stages.system.errors import StudyError
from tests.support.mutations import Change, changes


def made(folder: Path, contents: dict[str, bytes]) -> Path:
    with result_folder(folder) as new:
        for name, content in contents.items():
            (new / name).write_bytes(content)
    return folder


def test_the_sums_are_those_of_a_common_tool(tmp_path: Path) -> None:
    folder = made(tmp_path / "some", {"a": b"1", "b.json": b"2"})
    command = ["sha256sum", "--check", "--strict", SUMS]
    assert subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout == "a: OK\nb.json: OK\n"


@given(content=st.binary(min_size=1, max_size=200), change=changes())
def test_a_changed_file_is_told_in_one_line_and_others_are_read(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, change: Change
) -> None:
    folder = made(tmp_path_factory.mktemp("some") / "x", {"a": content, "b": b"2"})
    changed = change(content)
    (folder / "a").write_bytes(changed)
    assert verified(folder / "b") == folder / "b"
    if changed == content:
        assert verified(folder / "a") == folder / "a"
        return
    with pytest.raises(StudyError, match=rf"\A{folder}/a is damaged; delete it and run `dvc repro`\Z"):
        verified(folder / "a")


def test_a_file_that_is_gone_is_missed_and_so_is_one_that_the_list_lost(tmp_path: Path) -> None:
    folder = made(tmp_path / "x", {"a.csv": b"1", "b.csv": b"2"})
    (folder / SUMS).write_text((folder / SUMS).read_text().splitlines(keepends=True)[0])
    with pytest.raises(StudyError, match=r"b\.csv is damaged"):
        verified(folder / "b.csv")
    (folder / "a.csv").unlink()
    with pytest.raises(StudyError, match=r"a\.csv is missing; `dvc repro` makes it"):
        verified(folder / "a.csv")


@given(content=st.binary(max_size=200), change=changes())
def test_a_changed_sealed_file_has_no_content(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, change: Change
) -> None:
    path = tmp_path_factory.mktemp("some") / "sealed"
    write_sealed(path, content)
    whole = path.read_bytes()
    path.write_bytes(change(whole))
    assert read_sealed(path) == (content if change(whole) == whole else None)
