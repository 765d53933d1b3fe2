"""The facts of trainings that ended."""

from pathlib import Path
from typing import Any

from stages.system.digests import results_in
from stages.system.errors import StudyError
from stages.system.files import read_json


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The facts of each training that `run` published in a folder, by name.

    Raises:
        StudyError: there are none, or one is damaged.
    """
    paths = [path for path in results_in(folder, ".json") if path.stem != "provenance"]
    if not paths:
        raise StudyError(f"{folder} is missing; `dvc repro` makes it")
    return {path.stem: read_json(path) for path in paths}
