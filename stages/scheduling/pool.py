"""Workers: on this machine, of a scheduler that is there already, or of a queue of SLURM."""

import logging
import os
from importlib import import_module
from typing import Any

from dask.system import CPU_COUNT
from distributed import Client, Nanny, Scheduler, SpecCluster

from stages.settings import Compute
from stages.system.errors import StudyError

IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # it reaches all of a terminal
CONNECTED_WITHIN = 20  # seconds
GPU = "GPU"  # a resource of workers: `dask worker --resources GPU=1`


def gpus_here(compute: Compute) -> list[str]:
    """List the GPUs that trainings on this machine use, as CUDA numbers them."""
    if compute.device == "cpu":
        return []
    import torch  # workers import what their parent does: here they need not

    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return shown.split(",") if shown and shown != "-1" else [str(number) for number in range(torch.cuda.device_count())]


def local(number: int, gpus: list[str]) -> SpecCluster:
    """Start so many worker processes here, the cores shared among them, each with one GPU where there are some.

    number: 0 for one a GPU, or one a core.
    """
    number = number or len(gpus) or CPU_COUNT
    every = {"nthreads": max(1, CPU_COUNT // number), "memory_limit": 0, "preload": [IGNORE_CTRL_C]}
    every["silence_logs"] = logging.CRITICAL
    own = [{"env": {"CUDA_VISIBLE_DEVICES": gpu}, "resources": {GPU: 1}} for gpu in gpus] or [{}]
    workers = {i: {"cls": Nanny, "options": every | own[i % len(own)]} for i in range(number)}
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "port": 0, "dashboard": False}}
    return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.CRITICAL)


def slurm(jobs: int) -> Any:
    """Keep so many jobs up until the work is done, as ~/.config/dask/jobqueue.yaml describes them.

    Raises StudyError: dask-jobqueue is not installed.
    """
    try:
        jobqueue: Any = import_module("dask_jobqueue")
    except ImportError:
        raise StudyError("--slurm needs dask-jobqueue; run `pip install dask-jobqueue`") from None
    cluster = jobqueue.SLURMCluster()
    cluster.adapt(minimum_jobs=jobs, maximum_jobs=jobs)  # a job that ends by its time limit is followed by another
    return cluster


def connect(cluster: Any) -> Client:
    """Connect to a cluster, or to the scheduler at an address. Raises StudyError: none answers."""
    try:
        return Client(cluster, timeout=CONNECTED_WITHIN)
    except OSError as error:
        raise StudyError(f"no scheduler answers at {cluster}; start one with `dask scheduler`") from error


def await_workers(client: Client) -> None:
    """Wait for the first worker, and say which there are; more may come later."""
    print("waiting for workers", flush=True)
    client.wait_for_workers(1)
    for worker in workers_of(client).values():
        threads = worker["nthreads"]
        print(f"worker   {worker['host']}, {threads} thread{'s' if threads > 1 else ''}", flush=True)


def workers_of(client: Client) -> dict[str, Any]:
    """Ask the scheduler what it knows of each worker, by its address.

    `client.scheduler_info()` may name none: it hands out what the client keeps, and that is renewed meanwhile without
    the workers.
    """
    scheduler: Any = client.scheduler
    return dict(client.sync(scheduler.identity, n_workers=-1)["workers"])
