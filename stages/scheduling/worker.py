"""A worker: it keeps a clone of the project and completes one unit of work at a time in it.

A unit is a stage, or one seed of a stage that trains. A worker gets this module by value and need not have the project:
it imports nothing of it but `lock`, which comes in the same way.
"""

import ctypes
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from distributed import Status, Worker, WorkerPlugin, get_worker

from stages.scheduling.lock import entries, merge

RUNNING = (Status.running, Status.paused)
LOOK_EVERY = 0.2  # seconds
REASON = 3  # lines of a failed command's output


@dataclass
class Snapshot(WorkerPlugin):
    """A commit, with what was changed since; Dask brings it to every worker, to those that come later, too."""

    name: str  # tells it from others; a file of this name in `work` tells a worker that it is the folder meant
    git: bytes  # the folder .git of a clone of this commit alone, as tar.gz
    changes: bytes  # a binary diff against the commit
    cache: str | None  # DVC's cache; None where the workers do not share it and push to a remote
    work: str  # where trainings lie, shared likewise
    config: str  # DVC's in the clone: .dvc/config.local

    def clone(self, folder: Path) -> None:
        """Clone it into a folder."""
        shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(self.git)) as tar:
            tar.extractall(folder, filter="data")
        subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=folder, check=True)
        if self.changes:
            subprocess.run(["git", "apply", "--binary", "-"], cwd=folder, input=self.changes, check=True)
        (folder / ".dvc" / "config.local").write_text(self.config, encoding="utf-8")

    async def setup(self, worker: Worker) -> None:
        """Look whether the worker can serve; the clone is made when the first unit comes.

        Raises RuntimeError: the worker does not see the shared folders, or has none of its own.
        """
        self.folder = Path(worker.local_directory) / f"{self.name}-{os.getpid()}"
        self.fault = ""
        kept = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "knowledge-access", "work")
        self.trainings = Path(self.work) if self.cache else kept  # outlives the worker: a training goes on there
        if self.trainings.parts[0] == "~":
            self.fault = f"{socket.gethostname()}: the worker's user has no home folder; set XDG_CACHE_HOME there"
        if self.cache and not (Path(self.work, self.name).exists() and Path(self.cache).is_dir()):
            self.fault = f"{socket.gethostname()} does not see {self.work} and {self.cache}; share them or use --remote"
        if self.fault:
            raise RuntimeError(self.fault)
        self.worker = worker
        self.present = dict[str, str]()  # lock entries of the outputs in the clone

    def teardown(self, worker: Worker) -> None:
        """Delete the clone."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def complete(self, unit: str, stage: str, above: Mapping[str, str], seed: tuple[str, ...] | None) -> str:
        """Complete a unit from exactly the outputs that the upstream entries name.

        seed: the command that trains one seed of the stage; None for the whole stage. Returns the stage's entry, an
        empty text for a seed. Raises RuntimeError: a command failed; it has the end of the output.
        """
        if self.fault:  # a worker that came later is asked all the same
            raise RuntimeError(self.fault)
        log = self.trainings / "logs" / f"{unit.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "work").exists():
            self.clone(self.folder)
            (self.folder / "work").symlink_to(self.trainings)
        if new := {name: entry for name, entry in above.items() if self.present.get(name) != entry}:
            merge(self.folder, new)
            self._run(log, "dvc", "checkout" if self.cache else "pull", "--force", "--quiet", *new)
            self.present |= new
        if seed:
            self._run(log, *seed)
            return ""
        self._run(log, "dvc", "repro", "--single-item", stage)
        if not self.cache:
            self._run(log, "dvc", "push", "--quiet", stage)
        entry = entries(self.folder, [stage])[stage]
        self.present[stage] = entry
        return entry

    def _run(self, log: Path, *command: str) -> None:
        """Run a command in the clone; it ends when its unit is cancelled or this process dies."""
        key = get_worker().get_current_task()
        threads = str(self.worker.state.nthreads)  # Dask sets it to one
        env = environment(OMP_NUM_THREADS=threads, DVC_SITE_CACHE_DIR=str(self.folder / ".dvc" / "tmp" / "site"))
        for name in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            env.pop(name, None)
        with log.open("a+", encoding="utf-8") as file:
            start = file.tell()
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the one who holds the futures
                preexec_fn=_die_with_parent,
            )
            while process.poll() is None:
                task = self.worker.state.tasks.get(key)
                if task is None or task.state == "cancelled" or self.worker.status not in RUNNING:
                    process.terminate()
                    process.wait()
                time.sleep(LOOK_EVERY)
            file.seek(start)
            lines = [line for line in file.read().splitlines() if line.strip()]
        if process.returncode:
            reason = [line for line in lines if line.startswith("error: ")] or lines[-REASON:]
            raise RuntimeError("\n".join([*reason, f"{socket.gethostname()}: {log}"]))


def environment(**more: str) -> dict[str, str]:
    """Build the environment of a process whose commands are those of this Python's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "DVC_NO_ANALYTICS": "1", **more}


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
