"""Results that the last commit's outputs have: DVC removes from data/ what another selection has no place for."""

import json
from collections.abc import Sequence
from contextlib import suppress

from stages.jobs.job import FACTS, Job
from stages.system.files import write_bytes


def restore(jobs: Sequence[Job]) -> None:
    """Put results of jobs into work/ that the last commit names, and DVC's cache or a remote has.

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
                if not files.exists(f"{folder}/{FACTS}"):
                    continue
                facts = files.read_bytes(f"{folder}/{FACTS}")
                if (found := json.loads(facts))["key"] == job.key:
                    for name in found["files"]:
                        write_bytes(job.folder / name, files.read_bytes(f"{folder}/{name}"))
                    write_bytes(job.folder / FACTS, facts)
