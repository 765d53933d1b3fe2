"""The Makefile in folders as people have them: without git, moved, with trainings in work/."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.tiny import ROOT


def made(folder: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    """What `make` does in a folder that has the Makefile, and what it prints."""
    shutil.copy(ROOT / "Makefile", folder)
    command = ["make", "--no-print-directory", *arguments]
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    return subprocess.run(command, cwd=folder, env=alone, input=answer, capture_output=True, text=True)


def test_a_folder_without_git_is_told_before_anything_is_installed(tmp_path: Path) -> None:
    ended = made(tmp_path, "study", "PYTHON=false")
    assert ended.returncode and ended.stderr.startswith("error: this folder is no git repository, and DVC needs one")
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


@pytest.mark.parametrize(("stamp", "stays"), [("{here}\n", True), ("/elsewhere\n", False)])
def test_the_environment_of_another_folder_is_made_anew(tmp_path: Path, stamp: str, stays: bool) -> None:
    for name in ("requirements.txt", "requirements.lock"):
        (tmp_path / name).touch()
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    python = venv / "bin" / "python"
    python.symlink_to(shutil.which("true") or "true")
    (venv / "study").write_text(stamp.format(here=tmp_path))

    ended = made(tmp_path, ".venv/study", "PYTHON=true")
    assert python.is_symlink() == stays
    assert ("moved or copied: .venv is made anew" in ended.stdout) == (not stays)


@pytest.mark.parametrize(("answer", "stays"), [("", True), ("n\n", True), ("y\n", False)])
def test_trainings_go_only_if_one_says_so(tmp_path: Path, answer: str, stays: bool) -> None:
    for name in ("work", ".venv"):
        (tmp_path / name).mkdir()
    ended = made(tmp_path, "clean", answer=answer)
    assert ended.returncode == 0 and ended.stdout.split("\n", 1)[1].startswith("Delete work/, ")
    assert (tmp_path / "work").exists() == stays and not (tmp_path / ".venv").exists()
