"""A clone of the project with a study of seconds, in which DVC runs as its user runs it."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.project import environment, write_params
from tests.support.tiny import ROOT

TWO = ["vanilla", "rope"]  # another variant goes the same way and takes seconds each time
APART = "nope"  # known, but not among those compared


def small(content: dict[str, Any]) -> None:
    """A study of seconds: two recipes of a tiny model, two variants compared, a third known, one epoch, one seed."""
    content["recipes"] = {name: content["recipes"][name] for name in ("quick", "text", "pairs")}
    content["study"] |= {"compared": TWO}
    content["variants"] = {name: content["variants"][name] for name in [*TWO, APART]}
    content["compute"] |= {"device": "cpu", "precision": "float32", "checkpoint_seconds": 20.0}
    content["sources"]["synthetic"]["people"] = {"train": 40, "dev": 20, "test": 10}
    for recipe in content["recipes"].values():
        recipe["seeds"] = [1]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 32}
        recipe["pretrain"]["epochs"] = 1
        recipe["pretrain"]["schedule"] = {"warmup_tokens": 0, "decay_epochs": None, "min_lr_ratio": 0.1}
    content["recipes"]["quick"]["finetune"] |= {"scratch_epochs": 1, "pretrained_epochs": 1}


@dataclass(frozen=True)
class Project:
    """A clone of the project with a small study, DVC's own files beside it."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a command in the clone, without the user's own settings."""
        someone = {
            f"GIT_{who}_{what}": "someone@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        return environment(
            DVC_SITE_CACHE_DIR=str(self.folder.parent / "site"),
            DVC_GLOBAL_CONFIG_DIR=str(self.folder.parent / "global"),
            DVC_SYSTEM_CONFIG_DIR=str(self.folder.parent / "system"),
            DVC_NO_ANALYTICS="1",
            GIT_CONFIG_GLOBAL="/dev/null",
            **someone,
        )

    def run(self, *command: str, succeeds: bool = True) -> str:
        """Run a command in the clone; what it prints, errors included."""
        ended = self._ended(command, subprocess.STDOUT)
        assert (ended.returncode == 0) == succeeds, ended.stdout
        return ended.stdout

    def run_apart(self, *command: str) -> tuple[str, list[str]]:
        """Run a command that succeeds: what it prints, and the lines of its stderr."""
        ended = self._ended(command, subprocess.PIPE)
        assert ended.returncode == 0, (command, ended.stderr)
        return ended.stdout, ended.stderr.splitlines()

    def _ended(self, command: Sequence[str], stderr: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=900,
        )

    def metrics(self) -> dict[str, Any]:
        """metrics.json of the root."""
        return json.loads((self.folder / "metrics.json").read_text(encoding="utf-8"))

    def jobs(self) -> set[str]:
        """The jobs that were carried out: their stages, recipes, variants and seeds."""
        return {path.name.rpartition("-")[0] for path in (self.folder / "work").glob("*-*")}

    def state(self) -> dict[Path, bytes]:
        """Every file that a person or git sees."""
        seen = [path for path in self.folder.rglob("*") if path.is_file() and not {".git", ".dvc"} & {*path.parts}]
        return {path: path.read_bytes() for path in seen if "__pycache__" not in path.parts}


def stages_run(output: str) -> list[str]:
    """The stages that DVC ran, by name, without their file."""
    return [name.rpartition(":")[2] for name in re.findall(r"Running stage '([^']+)'", output)]


def clone(folder: Path, change: Callable[[dict[str, Any]], None] = small) -> Project:
    """Copy what git knows or would add, make the study small, and commit it."""
    folder.mkdir(parents=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    write_params(folder, change)
    project = Project(folder)
    project.run("git", "init", "--quiet")
    project.run("git", "add", "--all")
    project.run("git", "commit", "--quiet", "--message", "A small study")
    return project
