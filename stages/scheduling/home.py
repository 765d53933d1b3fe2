"""The work in the user's own clone: which stages are out of date, and the snapshot that the workers copy."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dvc.exceptions import DvcException  # type: ignore[import-untyped]
from dvc.repo import Repo  # type: ignore[import-untyped]
from dvc.scm import SCMError  # type: ignore[import-untyped]

from stages.scheduling.lock import name_of
from stages.system.errors import StudyError
from stages.system.locks import WORK

# Stages that read params.yaml as a whole, or a user's own files, which git may ignore; they take seconds.
AT_HOME = ("check", "fetch", "own", "text")
REASON = 3  # lines of a failed command's output


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that runs the commands of this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "DVC_NO_ANALYTICS": "1", **more}


def run(*command: str, folder: Path = Path()) -> str:
    """Run a command of this Python's environment, and return its output.

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
    """Find the stages with cached outputs that targets need, with themselves, and for each the stages directly above.

    Stages with other outputs are reports: `dvc repro` makes them at home. Raises StudyError: DVC knows no such target.
    """
    try:
        repo = Repo()
        needed = set().union(*(repo.stage.collect(target, with_deps=True) for target in targets))
    except SCMError as error:
        raise StudyError(f"{error}; a cluster needs the project's git repository") from error
    except DvcException as error:
        raise StudyError(f"{error}; `dvc stage list --all` lists the stages") from error

    upstream = {}
    for stage, above in repo.index.graph.adjacency():
        if stage in needed and not stage.is_data_source and all(out.use_cache for out in stage.outs):
            upstream[stage.addressing] = [other.addressing for other in above if not other.is_data_source]
    return upstream


def restore(upstream: Mapping[str, list[str]]) -> set[str]:
    """Restore all cached results, run the stages of AT_HOME, and return the stages that are still out of date.

    Raises StudyError: a stage that runs here fails, or files that DVC does not know are in a result's place.
    """
    run("dvc", "checkout", "--allow-missing", *upstream)
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
