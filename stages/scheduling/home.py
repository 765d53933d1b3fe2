"""The work in one's own clone: which stages are to do, and the snapshot that the workers take."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml  # type: ignore[import-untyped]

from stages.scheduling.lock import name_of
from stages.system.errors import StudyError
from stages.system.locks import WORK

# Stages that read params.yaml as a whole, or files of one's own, which git may ignore; they take seconds.
AT_HOME = ("check", "fetch", "own", "text")
REASON = 3  # lines of a failed command's output


def environment(**more: str) -> dict[str, str]:
    """Build the environment of a process whose commands are those of this Python's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "DVC_NO_ANALYTICS": "1", **more}


def run(*command: str, folder: Path = Path()) -> str:
    """Run a command of this Python's environment and give its output.

    Raises StudyError: it failed; the line has the end of its output.
    """
    ended = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", errors="replace"
    )
    if ended.returncode:
        lines = (ended.stdout + ended.stderr).strip().splitlines()
        raise StudyError(f"`{' '.join(command[:4])}` failed: {'; '.join(lines[-REASON:])}")
    return ended.stdout


def upstream_of(targets: Iterable[str]) -> dict[str, list[str]]:
    """Find the stages with cached outputs that targets need, themselves among them, each with those directly above.

    Stages with other outputs are reports: `dvc repro` makes them at home. Raises StudyError: DVC knows no such target.
    """
    drawn = run("dvc", "dag", "--mermaid")
    names = dict(re.findall(r'^\s*(node\d+)\["(.+)"\]$', drawn, re.MULTILINE))
    above: dict[str, list[str]] = {name: [] for name in names.values()}
    for first, second in re.findall(r"^\s*(node\d+)-->(node\d+)$", drawn, re.MULTILINE):
        if not names[first].endswith(".dvc"):  # what `dvc add` tracks: a file, no stage
            above[names[second]].append(names[first])

    needed = set[str]()
    todo = list(targets)
    while todo:
        name = todo.pop()
        if name not in above:
            raise StudyError(f"'{name}' is no stage; `dvc stage list --all` lists them")
        if name not in needed:
            needed.add(name)
            todo += above[name]
    return {name: above[name] for name in above if name in needed and not _is_report(name)}


def _is_report(stage: str) -> bool:
    """Whether a stage has an output that DVC does not cache."""
    file, _, name = stage.rpartition(":")
    return "cache: false" in yaml.safe_dump(_stages(Path(file or "dvc.yaml").resolve())[name.partition("@")[0]])


@cache
def _stages(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text(encoding="utf-8"))["stages"])


def restore(upstream: Mapping[str, list[str]]) -> set[str]:
    """Bring back all that was ever run, run what is to run here, and return the stages that are out of date.

    Raises StudyError: a stage that runs here fails.
    """
    run("dvc", "checkout", "--quiet", "--allow-missing", *upstream)
    if here := [stage for stage in upstream if name_of(stage) in AT_HOME]:
        run("dvc", "repro", *here)
    with TemporaryDirectory() as folder:
        Path(folder, "python").symlink_to(shutil.which("false") or "/bin/false")  # a stage that would run fails at once
        stubbed = environment(PATH=os.pathsep.join([folder, environment()["PATH"]]))
        command = ["dvc", "repro", "--keep-going", "--quiet", *upstream]
        subprocess.run(command, env=stubbed, capture_output=True, check=False)
    return set(json.loads(run("dvc", "status", "--json", *upstream)))


@contextmanager
def snapshot() -> Iterator[Path]:
    """Clone the last commit with all changes since, new files that git would add among them, into work/.

    It shares DVC's cache and work/ with this clone, and is there while the block runs: units end when it is gone.
    """
    cache = run("dvc", "cache", "dir").strip()
    Path(cache).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="snapshot-", dir=WORK, ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        run("git", "clone", "--quiet", "--shared", "--no-checkout", ".", str(folder))
        run("git", "reset", "--quiet", folder=folder)
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        for file in {*listed, ".dvc/config.local"}:
            if Path(file).is_file():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, folder / file)
        run("dvc", "cache", "dir", "--local", cache, folder=folder)
        (folder / "work").symlink_to(WORK.resolve())
        yield folder
