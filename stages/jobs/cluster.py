"""Jobs on the workers of a Dask scheduler.

Dask is sent the name of a function of Python's own, `subprocess.run`, and what the command reads: settings, data and
the results that the job builds on. A worker needs a checkout of the same code, and shares nothing with this machine.
What a job made comes back as bytes. Dask gives the job of a lost worker to another one.
"""

import io
import json
import logging
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from stages.jobs.executor import AGAIN, Watch, carry_out, carry_out_all, check_variants
from stages.jobs.job import Job
from stages.settings import Settings
from stages.system.errors import StudyError, command, tell
from stages.system.files import WORK, write_bytes
from stages.system.lifetime import stop_requests

DESCRIPTION = "job.json"
CONNECTED_WITHIN = 20  # seconds
COMMAND = ["python", "-m", "stages.jobs.cluster"]
INSTALL = "pip install -r requirements-cluster.txt -c requirements.lock"


def packed(job: Job) -> bytes:
    """Pack a job: its description, the prepared data, and the results that it builds on."""
    description = {
        "stage": job.stage,
        "params": job.params.model_dump(),
        "recipe": job.recipe,
        "variant": job.variant,
        "seed": job.seed,
        "traits": job.traits,
        "key": job.key,
    }
    files = [(f"prepared/{path.name}", path.read_bytes()) for path in job.prepared.iterdir()]
    for needed in job.inputs:
        files += result(needed) if needed.result else []  # a trial makes what it needs
    return archive([(DESCRIPTION, json.dumps(description).encode()), *files])


def result(job: Job) -> list[tuple[str, bytes]]:
    """Read the files of a job's result, each with its name below work/."""
    return [(f"{job.key}/{file.name}", file.read_bytes()) for file in job.result_files]


def archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a tar archive of named files, in their order."""
    packing = io.BytesIO()
    with tarfile.open(fileobj=packing, mode="w") as tar:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packing.getvalue()


def unpack(content: bytes) -> None:
    """Write the results in an archive into work/, each one's facts last."""
    for name, file in members(content).items():
        write_bytes(WORK / name, file)


def members(content: bytes) -> dict[str, bytes]:
    """Return the files of an archive by their names, in its order."""
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        files = {member.name: tar.extractfile(member) for member in tar}
        return {name: file.read() for name, file in files.items() if file}


def received(content: bytes) -> Job:
    """Unpack a job with all it needs into work/.

    Raises StudyError: the checkout here has other code than the one that sent it, or other libraries.
    """
    files = members(content)
    description: dict[str, Any] = json.loads(files.pop(DESCRIPTION))
    key = description.pop("key")
    prepared = WORK / f"{key}-data"
    for name, file in files.items():
        folder, _, rest = name.partition("/")
        write_bytes(prepared / rest if folder == "prepared" else WORK / name, file)
    params = Settings.model_validate(description.pop("params"))
    device = tuple(description.pop("traits"))
    job = Job(**description, params=params, prepared=prepared, traits=device)
    if job.key != key:
        what = f"{Path.cwd()} has other code, torch or numpy than the checkout that sent the job"
        raise StudyError(f"{what}; check out the same commit there, with the packages of requirements.lock")
    return job


@command
def main() -> None:
    """Carry out a job that comes as bytes, and send back its result."""
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no part of the result
    job = received(sys.stdin.buffer.read())
    check_variants([job])
    carry_out(job)
    with os.fdopen(out, "wb") as stream:
        stream.write(archive(result(job)))


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


if __name__ == "__main__":
    main()
