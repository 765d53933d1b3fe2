"""A job on a worker of a cluster: it comes on the standard input, and its result goes out as bytes."""

import io
import json
import os
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stages.jobs.executor import carry_out, check_variants
from stages.jobs.job import Job
from stages.settings import Settings
from stages.system.errors import StudyError, command
from stages.system.files import write_bytes
from stages.system.locks import WORK

DESCRIPTION = "job.json"


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


if __name__ == "__main__":
    main()
