"""A job's key: a digest of all that its result depends on, and of nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stages.jobs import job as jobs
from stages.jobs.job import KINDS, RECORD, Job, jobs_of, publish
from stages.settings.params import load
from stages.system.errors import UserError
from stages.system.files import read_json, write_text
from tests.support.project import copy_stages, save_prepared, write_params

SELECTED: dict[str, Any] = {"recipe": "quick", "model.variant": "rope", "recipes.quick.seeds": [1]}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with its own code and prepared data."""
    monkeypatch.chdir(tmp_path)
    copy_stages(tmp_path)
    monkeypatch.setattr(jobs, "PACKAGE", tmp_path / "stages")
    for recipe in ("quick", "handout", "text"):
        save_prepared(tmp_path / "data/prepared" / recipe)
    yield tmp_path
    forget()


def forget() -> None:
    jobs.code_digest.cache_clear()
    jobs.data_digest.cache_clear()


def keys(values: dict[str, Any] | None = None) -> dict[str, str]:
    """The key of each stage's job under these settings."""
    write_params(Path(), values=SELECTED | (values or {}))
    forget()
    return {stage: jobs_of(stage, load())[0].key for stage in ALL}


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The stages with another key."""
    return [stage for stage in ALL if before[stage] != after[stage]]


ALL = [kind for kind in KINDS if kind != "pretrain_trial"]  # of a recipe with questions


@pytest.mark.parametrize(
    ("key", "value", "again"),
    [
        ("recipes.quick.pretrain.epochs", 3, ALL),
        ("recipes.quick.model.dropout", 0.2, ALL),
        ("recipes.quick.finetune.batch_size", 3, ALL[1:]),
        ("recipes.quick.generation.max_characters", 3, ALL[2:]),
        ("variants.rope.theta", 5.0, ALL),
        ("compute.kernels", "torch", ALL),
        ("recipes.quick.seeds", [2], ALL),
        ("recipes.quick.seeds", [1, 2], []),
        ("model.variant", "all", ALL),  # of another variant
        ("recipes.quick.report.show_questions", False, []),
        ("variants.vanilla", {"unread": 1}, []),
        ("compute.checkpoint_seconds", 7.0, []),
        ("compute.cluster", "tcp://host:1", []),
    ],
)
def test_settings_of_a_result_change_its_key_and_those_below(key: str, value: Any, again: list[str]) -> None:
    assert changed(keys(), keys({key: value})) == again


@pytest.mark.parametrize(
    ("path", "again"),
    [
        ("stages/corpus/objectives.py", ALL),
        ("stages/model/cpu/kernels.cpp", ALL),
        ("stages/mixers/rope.py", ALL),
        ("stages/training/loop.py", ALL[:2] + ALL[2:]),
        ("stages/finetune.py", ALL[1:]),
        ("stages/asking/generation.py", ALL[2:]),
        ("data/prepared/quick/encoded.safetensors", ALL),
        ("stages/mixers/vanilla.py", []),
        ("stages/jobs/executor.py", []),
        ("stages/system/files.py", []),
        ("data/prepared/handout/encoded.safetensors", []),
    ],
)
def test_code_and_data_that_a_result_depends_on_change_its_key(path: str, again: list[str]) -> None:
    before = keys()
    with Path(path).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert changed(before, keys()) == again


def test_other_libraries_and_another_device_change_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    monkeypatch.setattr(jobs, "version", lambda name: "0")
    libraries = keys()
    monkeypatch.setattr(jobs, "traits", lambda compute: ["cuda", "bfloat16"])
    device = keys()
    assert changed(before, libraries) == changed(libraries, device) == ALL


def ended(job: Job) -> Job:
    """The job with a result of one file."""
    write_text(job.folder / "file.tsv", "text")
    write_text(job.folder / "weights.checkpoint", "left by a kill")
    job.end(["file.tsv"], loss=1.0)
    return job


def selected(stage: str = "pretrain") -> list[Job]:
    write_params(Path(), values=SELECTED)
    return jobs_of(stage, load())


def test_a_result_is_found_in_work_or_published_for_any_selection() -> None:
    (job,) = selected()
    assert job.result is None
    ended(job)
    assert job.result == job.folder
    output = Path("data/pretrained/quick/compared")
    publish([job], output)
    shutil.rmtree("work")
    assert job.result == output / "rope/seed-1"
    assert sorted(path.name for path in job.result.iterdir()) == ["file.tsv", RECORD]
    (output / "rope/seed-1" / RECORD).unlink()  # without its record it is none
    assert job.result is None


def test_what_is_published_replaces_what_was_there_or_nothing_is() -> None:
    (job,) = selected()
    output = Path("data/pretrained/quick/rope")
    write_text(output / "old.tsv", "of another selection")
    with pytest.raises(UserError, match="pretrain rope, seed 1: its result is missing"):
        publish([job], output)
    assert (output / "old.tsv").exists()
    publish([ended(job)], output)
    assert [path.name for path in output.iterdir()] == ["rope"]
    assert read_json(output / "rope/seed-1" / RECORD)["settings"]["variant"] == {"rope": {"theta": 10000.0}}
