"""The Makefile in folders as people have them: without git, moved, with trainings in work/."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.tiny import ROOT


def made(folder: Path, *arguments: str, answer: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """What `make` does in a folder that has the Makefile, and what it prints."""
    shutil.copy(ROOT / "Makefile", folder)
    command = ["make", "--no-print-directory", *arguments]
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")} | more
    return subprocess.run(command, cwd=folder, env=alone, input=answer, capture_output=True, text=True)


def told(folder: Path) -> Path:
    """A program that only notes what it was told, in the file `told`."""
    program = folder / "python"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/told"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def test_a_folder_without_git_is_told_before_anything_is_installed(tmp_path: Path) -> None:
    ended = made(tmp_path, "study", "PYTHON=false")
    of_git, advice, *_ = ended.stderr.splitlines()
    assert ended.returncode and of_git.startswith("fatal: not a git repository")
    assert advice.startswith("error: git finds no repository here, and DVC needs one")
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_who_has_told_git_no_name_gets_one_in_this_folder_alone(tmp_path: Path) -> None:
    nobody = {"HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    first, second = (made(tmp_path, "repository", **nobody) for _ in range(2))
    assert first.stdout.startswith("git knew no name of yours") and (second.stdout, second.returncode) == ("", 0)
    named = subprocess.run(["git", "config", "--local", "user.email"], cwd=tmp_path, capture_output=True, text=True)
    assert "@" in named.stdout


@pytest.mark.parametrize(("stamp", "stays"), [("{here}\n", True), ("/elsewhere\n", False)])
def test_the_environment_of_another_folder_is_made_anew(tmp_path: Path, stamp: str, stays: bool) -> None:
    for name in ("requirements.txt", "requirements.lock"):
        (tmp_path / name).touch()
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    python = venv / "bin" / "python"
    python.symlink_to(shutil.which("true") or "true")
    (venv / "study").write_text(stamp.format(here=tmp_path))

    ended = made(tmp_path, ".venv/study", f"PYTHON={told(tmp_path)}")
    assert python.is_symlink() == stays
    assert (tmp_path / "told").exists() == (not stays)
    assert ("moved or copied: .venv is made anew" in ended.stdout) == (not stays)


def test_an_environment_of_an_older_python_is_made_anew(tmp_path: Path) -> None:
    for name in ("requirements.txt", "requirements.lock"):
        (tmp_path / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(shutil.which("false") or "false")  # it says that it is too old
    made(tmp_path, ".venv/study", f"PYTHON={told(tmp_path)}")
    assert f"-m venv --clear {tmp_path / '.venv'}" in (tmp_path / "told").read_text()


@pytest.mark.parametrize(("name", "ignored"), [("work", True), (".venv", True), ("dvc.lock", False)])
def test_git_ignores_links_to_another_disk_and_no_lock_of_dvc_whatever_its_user_ignores(
    tmp_path: Path, name: str, ignored: bool
) -> None:
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "ignored").write_text("*.lock\n")
    (tmp_path / name).symlink_to(tmp_path.parent)
    command = ["git", "-c", "core.excludesFile=ignored", "check-ignore", "--quiet", name]
    assert subprocess.run(command, cwd=tmp_path).returncode == (0 if ignored else 1)


@pytest.fixture(scope="module", name="needy")
def needy_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space in its name, whose .venv lies elsewhere, and which requires a package that lies in it."""
    folder = tmp_path_factory.mktemp("a folder")
    (folder / ".venv").symlink_to(tmp_path_factory.mktemp("scratch"))
    about = {"WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "RECORD": ""}
    about["METADATA"] = "Metadata-Version: 2.1\nName: needed\nVersion: 1\n"
    with zipfile.ZipFile(folder / "needed-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("needed.py", "")
        for name, content in about.items():
            wheel.writestr(f"needed-1.dist-info/{name}", content)
    (folder / "requirements.txt").write_text("./needed-1-py3-none-any.whl\n")
    (folder / "requirements.lock").touch()
    return folder


@pytest.mark.parametrize("by", ["environment", "file"])
@pytest.mark.parametrize(("option", "value"), [("user", "true"), ("target", "elsewhere"), ("prefix", "elsewhere")])
def test_packages_are_installed_into_the_environment_whatever_pip_is_set_to(
    needy: Path, by: str, option: str, value: str
) -> None:
    (needy / "pip.conf").write_text(f"[install]\n{option} = {value}\n")
    settings = {f"PIP_{option.upper()}": value} if by == "environment" else {"PIP_CONFIG_FILE": str(needy / "pip.conf")}
    ended = made(needy, ".venv/study", f"PYTHON={sys.executable}", **settings)
    assert ended.returncode == 0, ended.stderr
    *installed, stamp = [*needy.glob(".venv/lib/*/site-packages/needed*"), needy / ".venv" / "study"]
    assert len(installed) == 2 and not (needy / "elsewhere").exists()
    for path in (*installed, stamp):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(("answer", "stays"), [("", True), ("n\n", True), ("y\n", False)])
def test_trainings_go_only_if_one_says_so(tmp_path: Path, answer: str, stays: bool) -> None:
    for name in ("work", ".venv"):
        (tmp_path / name).mkdir()
    ended = made(tmp_path, "clean", answer=answer)
    assert ended.returncode == 0 and ended.stdout.split("\n", 1)[1].startswith("Delete work/, ")
    assert (tmp_path / "work").exists() == stays and not (tmp_path / ".venv").exists()
