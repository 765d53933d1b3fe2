"""Jobs on the workers of a Dask scheduler.

Dask is sent the name of a function of Python's own, `subprocess.run`, and what the command reads: settings, data and
the results that the job builds on. A worker needs a checkout of the same code, and shares nothing with this machine.
What a job made comes back as bytes. Dask gives the job of a lost worker to another one.
"""

import logging
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from stages.jobs.executor import AGAIN, Watch, carry_out_all
from stages.jobs.job import Job
from stages.jobs.remote import packed, unpack
from stages.system.errors import StudyError
from stages.system.lifetime import stop_requests
from stages.system.terminal import tell

CONNECTED_WITHIN = 20  # seconds
COMMAND = ["python", "-m", "stages.jobs.remote"]
INSTALL = "pip install -r requirements-cluster.txt -c requirements.lock"


def complete_on_cluster(jobs: Sequence[Job], address: str, watch: Watch) -> None:
    """Complete jobs on the workers of the scheduler at an address. Raises: as `executor.complete`."""
    try:
        from distributed import Client
    except ImportError as error:
        raise StudyError(f"compute.cluster: {error}; run: {INSTALL}") from error

    logging.disable(logging.ERROR)  # Dask's: the lines printed here say what matters
    try:
        client = Client(address, timeout=CONNECTED_WITHIN)
    except (OSError, ValueError) as error:
        what = f"compute.cluster: no scheduler answers at {address}; start one with `dask scheduler`"
        raise StudyError(what) from error
    with client, client.get_executor(pure=False) as executor, stop_requests() as stop:
        if not client.nthreads():
            tell(f"waiting for workers; start one in a checkout of the project: dask worker {address}")
        sent: list[Future[Any]] = []

        def submit(job: Job) -> "Future[Any]":
            future = executor.submit(subprocess.run, COMMAND, input=packed(job), capture_output=True, check=False)
            sent.append(future)
            received: Future[Any] = Future()
            future.add_done_callback(lambda answer: _receive(job, answer, received))
            return received

        def halt() -> None:
            for future in sent:
                future.cancel()  # one that runs already ends on its worker

        carry_out_all(jobs, submit, stop, halt, watch)


def _receive(job: Job, sent: "Future[Any]", received: "Future[Any]") -> None:
    """Write a job's result into its folder, and tell how it ended."""
    if not received.set_running_or_notify_cancel():
        return
    try:
        ended = sent.result()
        if ended.returncode:
            lines = ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise StudyError(f"{job.name}: its worker says: {lines[-1].removeprefix('error: ')}")
        unpack(ended.stdout)
        received.set_result(None)
    except StudyError as error:
        received.set_exception(error)
    except BaseException as error:  # of Dask: the job lost several workers, or the scheduler is gone
        received.set_exception(StudyError(f"{job.name}: {type(error).__name__}: {error}; {AGAIN}"))
