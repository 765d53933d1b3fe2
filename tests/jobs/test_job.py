"""A job's key: a digest of all that its result depends on, and of nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stages.jobs import job as jobs
from stages.jobs.job import KINDS, jobs_of
from stages.settings.params import load
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
        ("stages/finetune.py", ALL[1:]),
        ("data/prepared/quick/encoded.safetensors", ALL),
        ("stages/mixers/vanilla.py", []),
        ("stages/jobs/executor.py", []),
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
