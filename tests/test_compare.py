"""An entry of the comparison changes with what is compared, and with nothing else."""

import json
from pathlib import Path

import pytest

from stages import compare
from stages.system.files import folder_hash

COMPARED = ("evaluations/quick/rope",)
OTHERS = ("evaluations/quick/vanilla", "evaluations/open/rope", "cost/rope", "weights/quick/rope")


def folder(parent: Path, **files: str) -> Path:
    for name, content in files.items():
        path = parent / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return parent


@pytest.fixture(name="data")
def data_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that could be entered, a file in each folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["compare", "--recipe", "quick", "--variant", "rope"])
    for name in (*COMPARED, *OTHERS):
        folder(tmp_path / "data" / name, file="before")
    return tmp_path / "data"


def entry(data: Path) -> dict[str, str]:
    compare.main()
    found: dict[str, str] = json.loads((data / "compared/quick/rope.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("changed", [*COMPARED, *OTHERS])
def test_an_entry_changes_with_each_thing_that_is_compared_and_with_nothing_else(data: Path, changed: str) -> None:
    before = entry(data)
    folder(data / changed, file="after")
    after = entry(data)
    assert len(before) == len(COMPARED)
    assert len([key for key in before if before[key] != after[key]]) == (changed in COMPARED)


@pytest.mark.parametrize("missing", COMPARED)
def test_nothing_is_entered_where_something_is_missing(data: Path, missing: str) -> None:
    (data / missing / "file").unlink()
    with pytest.raises(SystemExit, match=f"error: data/{missing} is missing; `dvc repro` makes it"):
        entry(data)
    assert not (data / "compared").exists()


def test_the_same_files_elsewhere_have_the_same_hash(tmp_path: Path) -> None:
    one, two = (folder(tmp_path / name, run="a", deeper__run="b") for name in ("one", "two"))
    assert folder_hash(one) == folder_hash(two)


@pytest.mark.parametrize(
    "files", [{"run": "A"}, {"ran": "a"}, {"run": "a", "more": ""}, {"deeper__run": "a"}, {"ru": "na"}]
)
def test_another_content_name_or_file_changes_the_hash(tmp_path: Path, files: dict[str, str]) -> None:
    assert folder_hash(folder(tmp_path / "one", run="a")) != folder_hash(folder(tmp_path / "two", **files))


def test_where_one_file_ends_and_the_next_begins_counts(tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one", a="xb", b="y"), folder(tmp_path / "two", a="x", b="by")
    assert folder_hash(one) != folder_hash(two)
