"""A tiny project, and jobs in it that are carried out in a process: to be stopped, killed and started again.

What a stage imports is loaded once, in a server, and each life is a fork of it: a life then begins within
tenths of a second instead of seconds.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

import stages
from stages.jobs import executor
from stages.jobs.job import jobs_of
from stages.settings import load
from stages.system.errors import command
from tests.support.project import save_prepared, write_params
from tests.support.tiny import VARIANTS

RECIPE, VARIANT = "handout", VARIANTS[0]
STEPS = 24  # a training: 6 epochs of eight documents or questions, two a batch
TRAININGS = {"pretrain": ["weights"], "finetune": ["scratch", "pretrained"]}  # of each seed
SEEDS = (1, 2)
PATIENCE = 180  # seconds

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["stages.pretrain", "stages.finetune", "stages.training.phases", "tests.support.lives"])


def new_project(folder: Path, epochs: int = 6, seeds: Sequence[int] = SEEDS) -> Path:
    """A project whose trainings last a second, or more with more epochs, with a checkpoint after every step."""

    def tiny(content: dict[str, Any]) -> None:
        content["recipe"], content["model"]["variant"] = RECIPE, VARIANT
        content["compute"] |= {"device": "cpu", "precision": "float32", "checkpoint_seconds": 0.0}
        recipe = content["recipes"][RECIPE]
        recipe["seeds"] = [*seeds]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 32, "context": 64, "dropout": 0.1}
        recipe["pretrain"] |= {"epochs": epochs, "batch_size": 2, "learning_rate": 0.003}
        recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 30}
        recipe["finetune"] |= {"scratch_epochs": 6, "pretrained_epochs": 6, "batch_size": 2}

    save_prepared(folder / "data" / "prepared" / RECIPE)
    write_params(folder, tiny)
    return folder


@dataclass
class Life:
    """A process that carries out the jobs of a stage, one after the other."""

    process: ForkServerProcess
    stderr: Path

    def kill(self, number: int) -> None:
        """Send it a signal."""
        assert self.process.pid
        os.kill(self.process.pid, number)

    def end(self) -> tuple[int | None, str]:
        """Wait for its end: exit code, negative after a signal, and what it wrote to stderr."""
        self.process.join(PATIENCE)
        return self.process.exitcode, self.stderr.read_text(encoding="utf-8")

    def reach(self, reached: Callable[[], bool]) -> None:
        """Wait until something holds, while it lives."""
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert self.process.is_alive(), f"ended before: {self.end()}"
            assert time.monotonic() < deadline
            time.sleep(0.002)


def begin(folder: Path, stage: str = "pretrain") -> Life:
    """Begin to carry out the jobs of a stage in a project's folder."""
    stderr = folder.parent / f"{folder.name}.stderr"
    process = SERVER.Process(target=_live, args=(folder, stage, stderr))
    process.start()
    return Life(process, stderr)


def run(folder: Path, stage: str = "pretrain") -> str:
    """Carry out the jobs of a stage: what it wrote to stderr."""
    code, stderr = begin(folder, stage).end()
    assert code == 0, stderr
    return stderr


def _live(folder: Path, stage: str, stderr: Path) -> None:
    import torch

    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    os.chdir(folder)
    torch.set_num_threads(1)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as without nohup, under which tests may run
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stages.STARTED_BY = os.getppid()
    executor.PATIENCE = 0.0

    @command
    def main() -> None:
        for job in jobs_of(stage, load()):
            executor.complete_job(job)

    main()


def work_of(folder: Path, stage: str, seed: int) -> Path | None:
    """The folder of work of a job, if there is one."""
    return next((folder / "work").glob(f"{stage}-{RECIPE}-{VARIANT}-{seed}-*"), None)


def steps_done(folder: Path, stage: str, seed: int, name: str) -> int:
    """The steps in the checkpoint of a training `name` in a project's folder; all where it has ended."""
    if work := work_of(folder, stage, seed):
        with suppress(FileNotFoundError):
            return int(load_file(work / f"{name}.checkpoint")["steps"])
        if (work / f"{name}.json").exists():  # looked for last: in between it may have ended
            return STEPS
    return 0


def all_steps(folder: Path, stage: str) -> int:
    """The steps done of all trainings of a stage."""
    return sum(steps_done(folder, stage, seed, name) for seed in SEEDS for name in TRAININGS[stage])


def results(folder: Path, stage: str) -> dict[str, bytes]:
    """All weights and curves of a stage's jobs, by their names in work/."""
    work = folder / "work"
    files = [path for path in work.glob(f"{stage}-*/*") if path.suffix in (".safetensors", ".csv")]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in files}


def unfinished(folder: Path) -> list[Path]:
    """What is left of trainings that did not come to their end."""
    return [path for path in (folder / "work").rglob("*") if path.suffix in (".checkpoint", ".partial")]
