"""The section on attention by hand says what was computed."""

import json
from pathlib import Path

import pytest

from stages.exploration.figures import pictures
from stages.exploration.results import explore
from stages.reporting.sections.exploration import TEMPLATE, exploration_part, sentences
from stages.reporting.template import fill, power
from stages.settings import Explore
from stages.system.errors import StudyError
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


def section(settings: Explore) -> str:
    """The section's sentences about these settings, without their line breaks."""
    return " ".join(fill(TEMPLATE, **(figures := explore(settings).figures) | sentences(figures)).split())


EXPECTED = (
    "and all but",
    "gives c ≈ ½(v_a + v_b)",
    "each input keeps to itself",
    "c₁ ≈ u_b − u_c and c₂ ≈ u_b",
    "its direction is sure, its length is not",
    "swings between v_a and v_b",
    "does the first head miss v_a",
)


def test_small_betas_and_widely_drawn_keys_are_not_told_as_large_and_sure() -> None:
    usual = SETTINGS.explore.model_copy(update={"samples": 1000})
    said = section(usual)
    assert not [each for each in EXPECTED if each not in said]
    said = section(usual.model_copy(update={"alpha": 0.3, "betas": [0.1, 0.5, 1.0]}))
    assert not [each for each in EXPECTED if each in said]
    assert "at β = 1, the largest here, it is 0.15." in said
    assert "the error is no smaller than 0.54" in said
    assert "the inputs mix, as the u are short here" in said
    assert "At ‖u‖² = 1 they are still off by 0.47 and 0.30 ‖u‖." in said
    assert "gives v_a and v_b together" in said and "the two values do not make up all of c." in said


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        ((0.5, 0.47), (0.45, 0.15), ("swings between", "does the first head miss v_a")),
        ((0.5, 0.1), (0.5, 0.06), ("mixes v_a and v_b", "steadier than one head.")),
        ((0.5, 0.1), (0.5, 0.3), ("mixes v_a and v_b", "v_b to 0.30 around 0.50.")),
        ((0.2, 0.1), (0.2, 0.1), ("together 40 % of the weight", "do not make up all of c.")),
    ],
)
def test_what_is_said_of_heads_follows_their_means_and_spreads(
    one: tuple[float, float], two: tuple[float, float], told: tuple[str, str]
) -> None:
    figures = explore(SETTINGS.explore.model_copy(update={"samples": 10})).figures
    for name, (mean, std) in (("one", one), ("two", two)):
        figures["heads"][name] = {"mean_a": mean, "mean_b": mean, "std_a": std, "std_b": std}
    figures["heads"]["two"]["std_b"] = 0.01 if two[0] == 0.45 else two[1]
    said = fill(TEMPLATE, **figures | sentences(figures))
    assert all(each in " ".join(said.split()) for each in told)


def test_an_error_of_the_computation_is_not_told_as_agreement() -> None:
    figures = explore(SETTINGS.explore.model_copy(update={"samples": 10})).figures
    assert "lines are the formulas: both agree." in fill(TEMPLATE, **figures | sentences(figures))
    figures["averaging"]["off_formula"] = 0.03
    assert "the formulas: they are apart by up to 3 · 10⁻²." in fill(TEMPLATE, **figures | sentences(figures))


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
