"""A tiny project, and trainings in it that each are a process: to be stopped, killed and started again.

What a stage imports is loaded once, in a server, and each life of a training is a fork of it: a life then begins within
tenths of a second instead of seconds.
"""

import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

import stages
from tests.support.project import save_prepared, write_params
from tests.support.tiny import VARIANTS

RECIPE, VARIANT = "handout", VARIANTS[0]
ARGUMENTS = ("--recipe", RECIPE, "--variant", VARIANT)
STEPS = 24  # a training: 6 epochs of eight documents or questions, two a batch
TRAININGS = {
    "pretrain": ["seed-1", "seed-2"],
    "finetune": ["scratch-seed-1", "pretrained-seed-1", "scratch-seed-2", "pretrained-seed-2"],
}
WEIGHTS = Path("data") / "weights" / RECIPE / VARIANT
OUTPUTS = {"pretrain": WEIGHTS / "pretrained", "finetune": WEIGHTS / "finetuned"}
PATIENCE = 180  # seconds

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["stages.pretrain", "stages.finetune", "stages.training.jobs", "tests.support.lives"])


def new_project(folder: Path) -> Path:
    """A project whose trainings last a second, with a checkpoint after every step."""

    def tiny(content: dict[str, Any]) -> None:
        content["compute"] |= {"device": "cpu", "precision": "float32", "checkpoint_seconds": 0.0}
        recipe = content["recipes"][RECIPE]
        recipe["seeds"] = [1, 2]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 32, "context": 64, "dropout": 0.1}
        recipe["pretrain"] |= {"epochs": 6, "batch_size": 2, "learning_rate": 0.003}
        recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 30}
        recipe["finetune"] |= {"scratch_epochs": 6, "pretrained_epochs": 6, "batch_size": 2}

    save_prepared(folder / "data" / "prepared" / RECIPE)
    write_params(folder, tiny)
    return folder


@dataclass
class Life:
    """A process of a stage."""

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


def begin(folder: Path, stage: str = "pretrain", *arguments: str) -> Life:
    """Begin a stage in a project's folder."""
    stderr = folder.parent / f"{folder.name}.stderr"
    process = SERVER.Process(target=_live, args=(folder, stage, arguments, stderr))
    process.start()
    return Life(process, stderr)


def run(folder: Path, stage: str = "pretrain", *arguments: str) -> str:
    """Run a stage to its good end: what it wrote to stderr."""
    code, stderr = begin(folder, stage, *arguments).end()
    assert code == 0, stderr
    return stderr


def _live(folder: Path, stage: str, arguments: tuple[str, ...], stderr: Path) -> None:
    import torch

    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    os.chdir(folder)
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"  # seeds train one after the other, in this process
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as without nohup, under which tests may run
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = importlib.import_module(f"stages.{stage}")
    sys.argv = [stage, *ARGUMENTS, *arguments]
    stages.STARTED_BY = os.getppid()
    module.main()


def steps_done(folder: Path, stage: str, name: str) -> int:
    """The steps in the checkpoint of a training `name` in a project's folder; all where it has ended."""
    for work in (folder / "work").glob(f"{stage}-*"):
        with suppress(FileNotFoundError):
            return int(load_file(work / f"{name}.checkpoint")["steps"])
        if (work / f"{name}.json").exists():  # looked for last: in between it may have ended
            return STEPS
    return 0


def all_steps(folder: Path, stage: str) -> int:
    """The steps done of all trainings of a stage."""
    return sum(steps_done(folder, stage, name) for name in TRAININGS[stage])


def results(output: Path) -> dict[str, bytes]:
    """All weights and curves in a folder."""
    return {path.name: path.read_bytes() for path in output.iterdir() if path.suffix in (".safetensors", ".csv")}


def unfinished(folder: Path) -> list[Path]:
    """What is left of trainings that did not come to their end."""
    return [path for path in (folder / "work").rglob("*") if path.suffix in (".checkpoint", ".partial")]
