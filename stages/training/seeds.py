"""The seeds of an experiment side by side, each in a process of its own.

A small model keeps no more than one core busy, so on a CPU several trainings with a part of the threads each end
sooner than one after another with all of them. A GPU trains them one after another.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import torch

from stages.experiment.experiment import Experiment
from stages.system.errors import StudyError
from stages.system.lifetime import stop_requests

LOOK_EVERY = 0.1  # seconds
RUNS_A_THREAD = 2  # trainings at once, at most: more only take memory


def go_apart(experiment: Experiment, seeds: Sequence[int]) -> bool:
    """Whether these seeds of the experiment are trained side by side."""
    return len(seeds) > 1 and experiment.backend.device.type == "cpu" and torch.get_num_threads() > 1


def threads_each(seeds: int) -> int:
    """How many threads each of so many seeds side by side has."""
    return max(1, torch.get_num_threads() // seeds)


def train_apart(stage: str, experiment: Experiment, seeds: Sequence[int]) -> None:
    """Run `python -m stages.<stage>` for each of the seeds alone, and wait for all.

    Raises KeyboardInterrupt: after Ctrl-C or SIGTERM, or when the parent is gone; each training was told to stop, too.
    Raises SystemExit: a training failed; it has told why, and the others were told to stop. Raises StudyError: a
    training was killed; the others were told to stop.
    """
    threads = torch.get_num_threads()
    command = [sys.executable, "-m", f"stages.{stage}"]
    command += ["--recipe", experiment.recipe_name, "--variant", experiment.variant, "--seed"]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads_each(len(seeds)))}
    waiting, failed = list(seeds), 0
    running: list[subprocess.Popen[bytes]] = []
    with stop_requests() as stop:
        while waiting or running:
            failed = failed or next((process.returncode for process in running if process.poll()), 0)
            running = [process for process in running if process.returncode is None]
            if stop.requested() or failed:
                waiting.clear()
                for process in running:
                    process.terminate()
                for process in running:
                    process.wait()
            elif waiting and len(running) < RUNS_A_THREAD * threads:
                running.append(subprocess.Popen([*command, str(waiting.pop(0))], env=environment))
            else:
                time.sleep(LOOK_EVERY)
        if stop.requested():
            raise KeyboardInterrupt(f"stopped{stop.reason}")
    if failed < 0:
        name = signal.Signals(-failed).name
        memory = " (out of memory?)" if name == "SIGKILL" else ""
        raise StudyError(f"a training was ended by {name}{memory}; the same command goes on from where it last wrote")
    if failed:
        raise SystemExit(failed)
