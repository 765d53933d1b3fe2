"""A tiny project, and jobs in it that are carried out in a process: to be killed and started again.

What a stage imports is loaded once, in a server, and each process is a fork of it: it then begins within tenths of a
second instead of seconds.
"""

import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import stages
from stages.jobs.executor import run_job
from stages.jobs.job import jobs_of
from stages.settings.params import load
from tests.support.project import copy_stages, save_prepared, write_params
from tests.support.tiny import VARIANTS

RECIPE, VARIANT = "handout", VARIANTS[0]
SEEDS = (1, 2)

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["stages.pretrain", "stages.finetune", "stages.training.loop", "tests.support.lives"])


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
    copy_stages(folder)
    return folder


def begin(folder: Path, stage: str = "pretrain") -> ForkServerProcess:
    """Begin to carry out the jobs of a stage in a project's folder, one after the other."""
    process = SERVER.Process(target=_run_jobs, args=(folder, stage))
    process.start()
    return process


def run(folder: Path, stage: str = "pretrain") -> None:
    """Carry out the jobs of a stage."""
    process = begin(folder, stage)
    process.join()
    assert process.exitcode == 0


def _run_jobs(folder: Path, stage: str) -> None:
    import torch

    os.chdir(folder)
    torch.set_num_threads(1)
    stages.STARTED_BY = os.getppid()
    for job in jobs_of(stage, load()):
        run_job(job)


def results(folder: Path, stage: str) -> dict[str, bytes]:
    """All weights and curves of a stage's jobs, by their names in work/."""
    work = folder / "work"
    files = [path for path in work.glob(f"{stage}-*/*") if path.suffix in (".safetensors", ".csv")]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in files}


def unfinished(folder: Path) -> list[Path]:
    """What is left of trainings that did not come to their end."""
    return [path for path in (folder / "work").rglob("*") if path.suffix in (".checkpoint", ".partial")]
