"""A disk that is full in each stage: nothing is half written, no result differs."""

import re
import resource
import shutil
from pathlib import Path

from stages import baseline, data, evaluate, finetune, prepare, pretrain, report
from tests.support.project import contents, limited, small, write_params
from tests.support.talking import Run

SMALL = 30  # bytes that a full disk takes of a file
STAGES = (data, prepare, baseline, pretrain, finetune, evaluate, report)
SMALLER = {  # trainings of some steps, with a checkpoint after each
    "model.variant": "rope",
    "compute.checkpoint_seconds": 0.0,
    "sources.synthetic.people": {"train": 8, "dev": 4, "test": 2},
    "recipes.quick.seeds": [1, 2],
    "recipes.quick.pretrain.epochs": 4,
    "recipes.quick.pretrain.batch_size": 8,
}
MEASURED = re.compile(rb'"seconds": [\d.]+|"\d+": [\d.]+|"documents_per_second": [\d.]+')  # the second by seed


def results(folder: Path) -> dict[str, bytes]:
    """What a person or DVC sees, but for figures of time."""
    names = {path: path.relative_to(folder) for path in contents(folder)}
    return {str(name): MEASURED.sub(b"", path.read_bytes()) for path, name in names.items() if name.parts[0] != "work"}


def test_a_full_disk_in_each_stage_is_told_in_one_line_and_changes_no_result(
    tmp_path: Path, run_in: Run, jobs_here: None
) -> None:
    folder, undisturbed = tmp_path / "project", tmp_path / "undisturbed"
    folder.mkdir()
    write_params(folder, small, SMALLER)
    shutil.copytree(folder, undisturbed)
    for stage in STAGES:
        assert run_in(undisturbed, stage).code == 0
        before = results(folder)
        with limited(resource.RLIMIT_FSIZE, SMALL):
            outcome = run_in(folder, stage)
        assert outcome.code == 1, stage
        told = re.fullmatch(r"error: (\S+): File too large", outcome.err.splitlines()[-1])
        assert told and ".partial" not in told[1], outcome.err  # the file that is wanted
        assert results(folder) == before
        assert run_in(folder, stage).code == 0
        if stage is not report:  # which tells how long it took
            assert results(folder) == results(undisturbed)
