"""The section on attention by hand says what was computed."""

import json
from pathlib import Path

import pytest

from stages.errors import StudyError
from stages.exploration.figures import pictures
from stages.exploration.results import explore
from stages.reporting.sections.exploration import exploration_part
from stages.reporting.template import power
from tests.tiny import SETTINGS


@pytest.fixture(scope="module", name="made")
def made_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exploration")
    exploration = explore(SETTINGS.explore.model_copy(update={"samples": 1000}))
    (folder / "exploration.json").write_text(json.dumps(exploration.figures), encoding="utf-8")
    for name, picture in pictures(exploration).items():
        (folder / name).write_text(picture, encoding="utf-8")
    return folder


@pytest.fixture(name="folder")
def folder_fixture(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_the_section_names_its_pictures_and_brings_them(folder: Path) -> None:
    part = exploration_part(folder)
    assert part is not None
    assert part.text.startswith("## Attention exploration\n")
    for name, content in part.files.items():
        assert f"]({name})" in part.text
        assert content == (folder / name.removeprefix("exploration_")).read_text(encoding="utf-8")
    assert part.text.count("](") == len(part.files) == 3


def test_the_numbers_in_the_text_are_the_computed_ones(folder: Path) -> None:
    path = folder / "exploration.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["heads"]["one"]["std_a"], record["heads"]["two"]["std_a"] = 0.6789, 0.1234
    record["copying"]["needed_beta"] = 5.432
    record["rotation"]["rotary_spread"] = 3.3e-7
    path.write_text(json.dumps(record), encoding="utf-8")
    part = exploration_part(folder)
    assert part is not None
    for said in ("0.68", "0.12 around", "β = 5.43 on", "3 · 10⁻⁷"):
        assert said in part.text


def test_without_the_folder_there_is_no_section(tmp_path: Path) -> None:
    assert exploration_part(tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("name", "content"), [("exploration.json", "{}"), ("exploration.json", "["), ("heads.svg", "")]
)
def test_a_broken_folder_is_told_in_one_line(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    if not content:
        path.unlink()
    with pytest.raises(StudyError, match=r"exploration\.json: broken .*dvc repro|heads\.svg") as told:
        exploration_part(folder)
    assert "\n" not in str(told.value)


def test_powers_of_ten() -> None:
    assert [power(each) for each in (3.14e-8, 1e-16, 0.0)] == ["3 · 10⁻⁸", "1 · 10⁻¹⁶", "0"]
