"""An entry of the comparison changes with what is compared, and with nothing else."""

from pathlib import Path

import pytest

from stages.errors import StudyError
from stages.files import folder_hash


def folder(parent: Path, **files: str) -> Path:
    for name, content in files.items():
        path = parent / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return parent


def test_the_same_files_elsewhere_have_the_same_hash(tmp_path: Path) -> None:
    one, two = (folder(tmp_path / name, run="a", deeper__run="b") for name in ("one", "two"))
    assert folder_hash(one) == folder_hash(two)


@pytest.mark.parametrize("files", [{"run": "A"}, {"ran": "a"}, {"run": "a", "more": ""}, {"deeper__run": "a"}])
def test_another_content_name_or_file_changes_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert folder_hash(folder(tmp_path / "one", run="a")) != folder_hash(folder(tmp_path / "two", **files))


def test_where_one_file_ends_and_the_next_begins_counts(tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one", a="xb", b="y"), folder(tmp_path / "two", a="x", b="by")
    assert folder_hash(one) != folder_hash(two)


def test_a_missing_folder_is_told_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"one is missing; `dvc repro` makes it"):
        folder_hash(tmp_path / "one")
