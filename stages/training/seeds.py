"""The seeds of a cell side by side, each in a process of its own.

A small model keeps no more than one core busy, so on a CPU several trainings with a part of the threads each end
sooner than one after another with all of them. A GPU trains them one after another. The process that starts the others
needs no torch, which takes a second to load.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from stages.experiment.cell import Cell
from stages.system.errors import StudyError
from stages.system.files import read_json
from stages.system.lifetime import stop_requests
from stages.training.work import publish

LOOK_EVERY = 0.1  # seconds
RUNS_A_THREAD = 2  # trainings at once, at most: more only take memory


def train_and_publish(
    stage: str, cell: Cell, train_here: Callable[[Cell], Path], names: Sequence[str], output: Path
) -> None:
    """Train the seeds of a cell and publish the trainings `names` in `output`; of one seed alone print the folder.

    train_here: trains them in this process, one after another, and returns the folder of work.
    """
    may_have_gpu = cell.params.compute.device != "cpu" and shutil.which("nvidia-smi")
    apart = side_by_side(not may_have_gpu, len(cell.seeds))
    work = train_apart(stage, cell) if apart else train_here(cell)
    if cell.only_seed is None:
        cell.check_unchanged(read_json(work / f"{names[-1]}.json")["settings"]["recipe"])
        publish(work, names, cell.seeds, output)
    else:
        print(work)


def side_by_side(on_cpu: bool, seeds: int) -> bool:
    """Whether so many seeds end sooner side by side."""
    return on_cpu and seeds > 1 and threads() > 1


def threads() -> int:
    """How many threads torch has here: OMP_NUM_THREADS, or one for each core that this process may use."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # "4,2": of nested loops, the outer first
    if given.isdecimal() and int(given):  # OpenMP ignores anything else
        return int(given)
    cores = {path.read_text() for path in Path("/sys/devices/system/cpu").glob("cpu*/topology/core_cpus_list")}
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(len(cores) or allowed, allowed)


def threads_each(seeds: int) -> int:
    """How many threads each of so many seeds side by side has."""
    return max(1, threads() // seeds)


def train_apart(stage: str, cell: Cell) -> Path:
    """Run `python -m stages.<stage> --seed` for each seed and wait for all: the folder of work that they name.

    Raises KeyboardInterrupt: after a signal to stop, or when the parent is gone; each training was told to stop, too.
    Raises SystemExit: a training failed; it has told why, and the others were told to stop. Raises StudyError: a
    training was killed, and the others were told to stop; or the folders differ.
    """
    command = [sys.executable, "-m", f"stages.{stage}"]
    command += ["--recipe", cell.recipe_name, "--variant", cell.variant, "--seed"]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads_each(len(cell.seeds)))}
    waiting = list(cell.seeds)
    failed = 0
    running: list[subprocess.Popen[str]] = []
    folders: set[str] = set()

    with stop_requests() as stop:
        while waiting or running:
            for process in [process for process in running if process.poll() is not None]:
                running.remove(process)
                failed = failed or process.returncode
                folders.add(process.communicate()[0])

            if stop.requested() or failed:
                waiting.clear()
                _stop(running)
            elif waiting and len(running) < RUNS_A_THREAD * threads():
                seed = str(waiting.pop(0))
                running.append(subprocess.Popen([*command, seed], env=environment, stdout=subprocess.PIPE, text=True))
            else:
                time.sleep(LOOK_EVERY)
        if stop.requested():
            raise KeyboardInterrupt(f"stopped{stop.reason}")

    if failed:
        _raise(failed)
    if len(folders) > 1:
        raise StudyError("settings, code or data were changed while the seeds trained; run the same command again")
    return Path(folders.pop().strip())


def _stop(running: Sequence[subprocess.Popen[str]]) -> None:
    """Tell trainings to stop, and wait until they have."""
    for process in running:
        process.terminate()
    for process in running:
        process.wait()


def _raise(code: int) -> NoReturn:
    """Raise the error of a training that ended with this code."""
    if code > 0:
        raise SystemExit(code)
    name = signal.Signals(-code).name
    memory = " (out of memory?)" if name == "SIGKILL" else ""
    raise StudyError(f"a training was ended by {name}{memory}; the same command goes on from where it last wrote")
