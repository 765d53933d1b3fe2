"""The work in one's own clone: which stages are to do, and what the workers get."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml  # type: ignore[import-untyped]

from stages.scheduling.lock import name_of
from stages.scheduling.worker import REASON, Snapshot, environment
from stages.system.errors import StudyError
from stages.system.locks import WORK

OWN_FILES = ("own", "text")  # stages that read what sources.own and sources.text name
# It stands in for Python: a stage that would run fails at once, but for those that are to run here.
STUB = """#!/bin/sh
case " {here} " in *" $DVC_STAGE "*) exec {python} "$@";; esac
exit 75
"""


def run(*command: str, **env: str) -> str:
    """Run a command of this Python's environment and give its output.

    Raises StudyError: it failed; the line has the end of its output.
    """
    ended = subprocess.run(command, env=environment(**env), capture_output=True, encoding="utf-8", errors="replace")
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
    return {name: above[name] for name in above if name in needed and not _has_flag(name, "cache", False)}


def restore(upstream: Mapping[str, list[str]], remote: bool) -> set[str]:
    """Bring back all that was ever run, and return the stages that are out of date by themselves.

    Run here are stages with nothing above them, which read params.yaml as a whole, those that read files of one's own,
    which git may ignore, and those with persistent outputs, which DVC's run-cache does not have.

    Raises StudyError: one of these fails.
    """
    fetch(upstream, remote)
    here = [
        stage
        for stage, above in upstream.items()
        if not above or name_of(stage) in OWN_FILES or _has_flag(stage, "persist", True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        stub = Path(folder, "python")
        stub.write_text(STUB.format(here=" ".join(here), python=shlex.quote(sys.executable)), encoding="utf-8")
        stub.chmod(0o755)
        stubbed = environment(PATH=os.pathsep.join([folder, environment()["PATH"]]))
        command = ["dvc", "repro", "--keep-going", "--quiet", *upstream]
        subprocess.run(command, env=stubbed, capture_output=True, check=False)
    stale = _stale(upstream)
    if failed := stale.intersection(here):
        run("dvc", "repro", *failed)  # it fails again, and says why; or a stage above it was to run first
        return _stale(upstream)
    return stale


def _stale(stages: Iterable[str]) -> set[str]:
    return set(json.loads(run("dvc", "status", "--json", *stages)))


def fetch(stages: Iterable[str], remote: bool) -> None:
    """Bring the outputs of stages into this clone."""
    run("dvc", *(["pull", "--run-cache"] if remote else ["checkout"]), "--quiet", "--allow-missing", *stages)


@contextmanager
def snapshot(remote: bool) -> Iterator[Snapshot]:
    """Pack the commit of this clone with all changes since, params.yaml and files that git would add among them.

    Raises StudyError: this is not the root of a git repository with a commit.
    """
    name = f"study-{uuid4().hex[:12]}"
    if run("git", "rev-parse", "--show-prefix").strip():
        raise StudyError("this is not the root of its git repository; the workers clone that")
    with tempfile.TemporaryDirectory() as folder, io.BytesIO() as packed:
        run("git", "clone", "--quiet", "--depth=1", "--no-checkout", f"file://{Path.cwd()}", folder)
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            tar.add(Path(folder, ".git"), ".git")
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}  # the user's index stays as it is
        run("git", "read-tree", "HEAD", **index)
        run("git", "add", "--all", **index)
        # plumbing: settings such as diff.external or color.diff do not reach it
        run("git", "diff-index", "--cached", "--binary", f"--output={folder}/changes", "HEAD", **index)
        git = packed.getvalue()
        changes = Path(folder, "changes").read_bytes()
    cache = None if remote else run("dvc", "cache", "dir").strip()
    if cache:
        Path(cache).mkdir(parents=True, exist_ok=True)
    token = WORK / name
    token.touch()
    try:
        yield Snapshot(name, git, changes, cache, str(WORK.resolve()), _config(cache))
    finally:
        token.unlink()


def _config(cache: str | None) -> str:
    """Copy of .dvc/config.local what it says of cache and locks; remotes may have passwords."""
    config = ConfigParser(interpolation=None)
    config.read(Path(".dvc", "config.local"), encoding="utf-8")
    for section in set(config.sections()) - {"cache", "core"}:
        config.remove_section(section)
    if cache:
        config.read_dict({"cache": {"dir": cache}})
    config.write(text := io.StringIO())
    return text.getvalue()


def _has_flag(stage: str, flag: str, value: bool) -> bool:
    """Whether an output of a stage has the flag in dvc.yaml."""
    file, _, name = stage.rpartition(":")
    body = _stages(Path(file or "dvc.yaml").resolve())[name.partition("@")[0]]
    body = body.get("do", body)
    for output in (*body.get("outs", []), *body.get("metrics", []), *body.get("plots", [])):
        if isinstance(output, dict) and any(flags.get(flag) is value for flags in output.values()):
            return True
    return False


@cache
def _stages(file: Path) -> dict[str, Any]:
    stages: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["stages"]
    return stages
