"""What the stages with jobs have in common: all jobs of the selection are completed, then published as a folder.

DVC removes from data/ what another selection has no place for; results that the last commit names come back from its
cache.
"""

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean

from stages.jobs.executor import complete
from stages.jobs.job import KINDS, RECORD, Job, code_digest, jobs_of
from stages.settings import PARAMS, load
from stages.system.errors import Parser, UserError
from stages.system.files import new_folder, write_bytes


def restore(jobs: Sequence[Job]) -> None:
    """Copy into work/ the results that the last commit names, from DVC's cache or a remote.

    So in a clone that only pulled, a part of what was pulled is not trained again.
    """
    from dvc.api import DVCFileSystem  # type: ignore[import-untyped]  # it takes a second to load
    from dvc.exceptions import DvcException  # type: ignore[import-untyped]
    from dvc.scm import SCMError  # type: ignore[import-untyped]

    with suppress(DvcException, SCMError, OSError):  # no repository, no commit, not in the cache
        files = DVCFileSystem(rev="HEAD")
        for job in jobs:
            of_recipe = (job.kind.output / job.recipe).as_posix()
            for selection in files.ls(of_recipe, detail=False) if files.exists(of_recipe) else []:
                folder = f"{selection}/{job.published.as_posix()}"
                if not files.exists(f"{folder}/{RECORD}"):
                    continue
                record = files.read_bytes(f"{folder}/{RECORD}")
                if (found := json.loads(record))["key"] == job.key:
                    for name in found["files"]:
                        write_bytes(job.folder / name, files.read_bytes(f"{folder}/{name}"))
                    write_bytes(job.folder / RECORD, record)


def run(stage: str, description: str | None) -> list[Job]:
    """Complete and publish the jobs of a stage, and return them.

    Raises UserError: params.yaml or a variant is faulty, a job fails, or settings changed while they ran.
    """
    Parser(description=description).parse_args()
    params = load()
    jobs = jobs_of(stage, params)
    if missing := [job for job in jobs if job.result is None]:
        restore(missing)
    if missing := [job for job in missing if job.result is None]:
        complete(stage, jobs, missing, len(params.recipe_named(params.recipe).seeds))
    else:
        print(f"{stage}: jobs done before: {len(jobs)} of {len(jobs)}", file=sys.stderr)

    # DVC reads params.yaml when a stage ends, and would store what it then has as what the results were made with
    code_digest.cache_clear()
    if [job.key for job in jobs_of(stage, load())] != [job.key for job in jobs]:
        what = f"settings or code were changed while stage {stage} ran"
        raise UserError(f"{PARAMS}: {what}; undo that to keep what was made, then run the same command again")
    publish(jobs, KINDS[stage].output / params.recipe / params.model.variant)
    return jobs


def publish(jobs: Sequence[Job], output: Path) -> None:
    """Replace the folder `output` by the results of jobs. Raises UserError: one has none."""
    with new_folder(output) as new:
        for job in jobs:
            for file in job.result_files:
                write_bytes(new / job.published / file.name, file.read_bytes())


def lowest_loss(jobs: Sequence[Job], training: str) -> float:
    """Return the loss of the variant that has the lowest after a training: its seeds' mean, in nats a character."""
    by_variant: dict[str, list[float]] = {}
    for job in jobs:
        by_variant.setdefault(job.variant, []).append(job.record["trainings"][training]["loss"])
    return min(map(fmean, by_variant.values()))
