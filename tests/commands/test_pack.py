"""A packed model answers in another clone, which has trained nothing, or is refused in a line that changes nothing."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.commands import ask, pack, unpack
from stages.experiment.trained import load_model
from stages.system.errors import StudyError
from tests.support.project import restored, with_sums, write_params
from tests.support.talking import ZOE, ChangeParams, Run, error, tiny


@pytest.fixture(name="packed")
def packed_fixture(run: Run, tmp_path: Path) -> Path:
    """The project's only model, as `pack` writes it."""
    file = tmp_path / "model.zip"
    assert run(pack, str(file), "--recipe", "quick", "--variant", "vanilla").code == 0
    return file


@pytest.fixture(name="clone")
def clone_fixture(project: Path, tmp_path: Path) -> Path:
    """A folder with the project's settings and nothing else."""
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copy(project / "params.yaml", clone)
    return clone


def test_it_answers_as_at_home(run: Run, run_in: Run, packed: Path, clone: Path) -> None:
    unpacked = run_in(clone, unpack, str(packed))
    assert unpacked.out == "unpacked; ask it: python -m stages ask --recipe quick --variant vanilla\n"
    options = (ZOE, "--recipe", "quick", "--variant", "vanilla", "--json")
    assert run_in(clone, ask, *options) == run(ask, *options)
    assert run_in(clone, unpack, str(packed)).code == 0  # once more changes nothing


def test_one_seed_is_packed_without_the_weights_of_others(run: Run, run_in: Run, project: Path, clone: Path) -> None:
    cell, one = ("--recipe", "quick", "--variant", "vanilla", "--seed"), clone / "one.zip"
    finetuned = project / "data/weights/quick/vanilla/finetuned"
    with restored(finetuned):
        shutil.copy(finetuned / "pretrained-seed-1.safetensors", finetuned / "pretrained-seed-2.safetensors")
        with_sums(finetuned)
        assert run(pack, str(one), *cell, "1").code == 0
    assert not [name for name in zipfile.ZipFile(one).namelist() if "seed-2" in name]
    assert run_in(clone, unpack, "one.zip").out.endswith("--recipe quick --variant vanilla\n")
    assert error(run(pack, ".", *cell, "1")) == "error: '.' names no file; write for instance quick.zip"
    assert error(run(pack, str(one), *cell, "2")) == "error: recipe 'quick' has no seed 2; allowed: 1"


def test_a_files_name_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    outcome = run(pack, str(tmp_path / "\x1b[2J.zip"), "--recipe", "quick", "--variant", "vanilla")
    assert (outcome.code, outcome.out.count("\\x1b[2J.zip"), "\x1b" in outcome.out) == (0, 2, False)


def test_what_was_not_trained_is_not_packed(run: Run, change: ChangeParams) -> None:
    assert "unknown recipe 'quik'" in error(run(pack, "--recipe", "quik"))
    change({"recipes.quick.seeds": [1, 2]})
    line = error(run(pack, "--recipe", "quick", "--variant", "vanilla", "--seed", "2"))
    assert "vanilla/pretrained has no seed 2" in line and "dvc repro stages/dvc.yaml:pretrain@quick-vanilla" in line


def test_a_model_of_a_plain_text_is_to_be_sampled(run: Run, run_in: Run, clone: Path) -> None:
    assert run(pack, str(clone / "text.zip"), "--recipe", "text", "--variant", "vanilla").code == 0
    outcome = run_in(clone, unpack, "text.zip")
    assert outcome.out.endswith("python -m stages sample --recipe text --variant vanilla\n")


def outside(package: Path) -> None:
    with zipfile.ZipFile(package, "a") as file:
        file.writestr("data/weights/quick/vanilla/finetuned/../../../../../away", "")


def changed(package: Path) -> None:
    with zipfile.ZipFile(package) as file:
        content = {name: file.read(name) for name in file.namelist()}
    name = next(name for name in content if name.endswith("finetuned/pretrained-seed-1.safetensors"))
    content[name] = content[name][:-1] + bytes([content[name][-1] ^ 1])
    with zipfile.ZipFile(package, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)


def encrypted(package: Path) -> None:
    content = package.read_bytes()
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # of each file and of its line in the directory
        place = content.index(mark) + flags
        content = content[:place] + b"\x01" + content[place + 1 :]
    package.write_bytes(content)


def no_deflated_stream(package: Path) -> None:
    content = package.read_bytes()
    package.write_bytes(content[:100] + b"\xff" * 20 + content[120:])


NOT_PACKED = "model.zip is damaged, or `python -m stages pack` did not write it"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (outside, "data/weights/quick/vanilla/finetuned is damaged"),
        (changed, "data/weights/quick/vanilla/finetuned is damaged"),
        (lambda package: package.write_text("no zip"), NOT_PACKED),
        (encrypted, NOT_PACKED),
        (no_deflated_stream, NOT_PACKED),
        (Path.unlink, "No such file or directory"),
    ],
)
def test_what_is_no_package_changes_nothing(
    run_in: Run, packed: Path, clone: Path, change: Callable[[Path], None], reason: str
) -> None:
    change(packed)
    assert error(run_in(clone, unpack, str(packed))).endswith(reason)
    assert [path.name for path in clone.iterdir()] == ["params.yaml"]


def test_another_model_under_the_same_name_is_refused(
    run_in: Run, packed: Path, clone: Path, change: ChangeParams, project: Path
) -> None:
    change({"recipes.quick.model.width": 32})
    shutil.copy(project / "params.yaml", clone)
    line = error(run_in(clone, unpack, str(packed)))
    assert "was trained with another recipe.model.width" in line
    assert [path.name for path in clone.iterdir()] == ["params.yaml"]


def test_what_is_here_already_stays(run_in: Run, packed: Path, clone: Path) -> None:
    own = clone / "data/weights/quick/vanilla/pretrained/own"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    line = error(run_in(clone, unpack, str(packed)))
    assert (
        line == "error: data/weights/quick/vanilla/pretrained is here already, with other content; move it away first"
    )
    assert own.read_text() == "mine" and not (clone / "data/prepared").exists()


def test_a_packed_model_of_a_seed_that_params_lack_is_asked_as_unpack_says(
    packed: Path, clone: Path, run_in: Run
) -> None:
    write_params(clone, tiny, {"recipes.quick.seeds": [3]})
    ask_it = run_in(clone, unpack, str(packed)).out.partition("python -m stages ask ")[2].split()
    assert ask_it[-2:] == ["--seed", "1"]
    assert run_in(clone, ask, ZOE, *ask_it).out.startswith("Brod")
    assert error(run_in(clone, ask, ZOE, *ask_it[:-1], "2")) == "error: recipe 'quick' has no seed 2; allowed: 3"


def test_a_program_loads_a_model_by_its_name(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    model, vocabulary = load_model("quick", "vanilla")
    assert not model.training and model.embedding.weight.shape[0] == len(vocabulary)
    with pytest.raises(StudyError, match="recipe 'text' has no questions"):
        load_model("text", "vanilla")
