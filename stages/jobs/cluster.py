"""Jobs on the workers of a Dask scheduler.

Dask is sent the name of a function of Python's own, `subprocess.run`, and what the command reads: settings, data and
the results that the job builds on. A worker needs a checkout of the same code, and shares nothing with this machine.
What a job made comes back as bytes. Dask gives the job of a lost worker to another one.
"""

import io
import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pydantic import TypeAdapter

from stages.jobs.executor import Watch, check_jobs, run_job, submit_all
from stages.jobs.job import Job
from stages.system.errors import UserError, command, tell
from stages.system.files import WORK, locked, write_bytes
from stages.system.lifetime import AGAIN, stop_requests

JOB = TypeAdapter(Job)
CONNECTED_WITHIN = 20  # seconds
RECEIVED_WITHIN = 60.0  # seconds
COMMAND = ["python", "-m", "stages.jobs.cluster"]
INSTALL = "pip install -r requirements-cluster.txt -c requirements.lock"


def serialised(job: Job) -> bytes:
    """Pack a job: its description and key, the prepared data, and the results that it builds on."""
    files = {"job": JOB.dump_json(job), "key": job.key.encode()}
    files |= {f"prepared/{path.name}": path.read_bytes() for path in job.prepared.iterdir()}
    for needed in job.inputs:
        files |= result(needed) if needed.result else {}  # a trial makes what it needs
    return archive(files)


def result(job: Job) -> dict[str, bytes]:
    """Read the files of a job's result, each by its name below work/; the record comes last."""
    return {f"{job.key}/{file.name}": file.read_bytes() for file in job.result_files}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of named files, in their order."""
    packing = io.BytesIO()
    with ZipFile(packing, "w") as archived:
        for name, content in files.items():
            archived.writestr(name, content)
    return packing.getvalue()


def files_in(content: bytes) -> dict[str, bytes]:
    """Return the files of an archive by their names, in its order."""
    with ZipFile(io.BytesIO(content)) as archived:
        return {name: archived.read(name) for name in archived.namelist()}


def received(content: bytes) -> Job:
    """Unpack a job with all it needs into work/.

    Raises UserError: the checkout here has other code than the one that sent it, or other libraries.
    """
    files = files_in(content)
    key = files.pop("key").decode()
    job = replace(JOB.validate_json(files.pop("job")), prepared=WORK / f"{key}-data" / "prepared")
    with locked(WORK / "received.lock", RECEIVED_WITHIN):  # another worker of this checkout may need the same files
        for name, file in files.items():
            write_bytes((job.prepared.parent if name.startswith("prepared/") else WORK) / name, file)
    if job.key != key:
        what = f"{Path.cwd()} has other code, torch or numpy than the checkout that sent the job"
        raise UserError(f"{what}; check out the same commit there, with the packages of requirements.lock")
    return job


@command
def main() -> None:
    """Carry out a job that comes as bytes, and send back its result."""
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no part of the result
    job = received(sys.stdin.buffer.read())
    check_jobs([job])
    run_job(job)
    with os.fdopen(out, "wb") as stream:
        stream.write(archive(result(job)))


def run_on_cluster(jobs: Sequence[Job], address: str, watch: Watch) -> None:
    """Run jobs on the workers of the scheduler at an address. Raises: as `executor.run_jobs`."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UserError(f"compute.cluster: {error}; run: {INSTALL}") from error

    logging.disable(logging.ERROR)  # Dask's: the lines printed here say what matters
    try:
        client = Client(address, timeout=CONNECTED_WITHIN)
    except (OSError, ValueError) as error:
        what = f"compute.cluster: no scheduler answers at {address}; start one with `dask scheduler`"
        raise UserError(what) from error
    with client, client.get_executor(pure=False) as executor, stop_requests() as stop:
        if not client.nthreads():
            tell(f"waiting for workers; start one in a checkout of the project: dask worker {address}")
        sent: list[Future[Any]] = []

        def submit(job: Job) -> "Future[Any]":
            future = executor.submit(subprocess.run, COMMAND, input=serialised(job), capture_output=True, check=False)
            sent.append(future)
            received: Future[Any] = Future()
            future.add_done_callback(lambda answer: _receive(job, answer, received))
            return received

        def halt() -> None:
            for future in sent:
                future.cancel()  # one that runs already ends on its worker

        submit_all(jobs, submit, lambda: sum(client.nthreads().values()), stop, halt, watch)


def _receive(job: Job, sent: "Future[Any]", received: "Future[Any]") -> None:
    """Write a job's result into its folder, and tell how it ended."""
    try:
        ended = sent.result()
        if ended.returncode:
            lines = ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise UserError(f"{job.name}: its worker says: {lines[-1].removeprefix('error: ')}")
        for name, file in files_in(ended.stdout).items():
            write_bytes(WORK / name, file)
        received.set_result(None)
    except UserError as error:
        received.set_exception(error)
    except BaseException as error:  # of Dask: the job lost several workers, or the scheduler is gone
        received.set_exception(UserError(f"{job.name}: {type(error).__name__}: {error}; {AGAIN}"))


if __name__ == "__main__":
    main()
