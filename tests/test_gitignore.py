"""What git leaves out: links to another disk, but no lock of DVC."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.tiny import ROOT


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
