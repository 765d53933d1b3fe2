"""Work folders: one a training, of everything it depends on."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from stages.experiment.backend import Backend
from stages.experiment.experiment import Experiment
from stages.training import work
from stages.training.work import work_folder
from tests.support.tiny import BFLOAT16, FLOAT32, HANDOUT, SETTINGS, VARIANTS

DEPENDS = {"recipe": {"epochs": 3}, "compute": ["cpu", "float32"]}


def test_whatever_the_result_depends_on_changes_the_folder_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").write_text("some")
    first = work_folder("pretrain", DEPENDS, data)
    assert work_folder("pretrain", dict(reversed(DEPENDS.items())), data) == first
    folders = [
        first,
        work_folder("finetune", DEPENDS, data),
        work_folder("pretrain", {**DEPENDS, "compute": ["cpu", "bfloat16"]}, data),
        work_folder("pretrain", {**DEPENDS, "recipe": {"epochs": 4}}, data),
    ]
    (data / "file").write_text("same")
    folders.append(work_folder("pretrain", DEPENDS, data))
    (data / "file").rename(data / "moved")
    folders.append(work_folder("pretrain", DEPENDS, data))
    assert len(set(folders)) == len(folders)


def test_the_code_that_reads_settings_is_no_part_of_what_a_training_depends_on() -> None:
    import_module("stages.sources.world.lexicon")  # other tests may have loaded it, or none
    sources = {path.relative_to(work.PACKAGE) for path in work._loaded_sources()}
    folders = {path.parts[0] for path in sources}
    assert {"experiment", "corpus"} <= folders and not {"settings", "system"} & folders
    assert Path("sources/world/places.yaml") in sources and Path("dvc.yaml") not in sources


def depends(variant: str = VARIANTS[0], backend: Backend = FLOAT32, **sections: dict[str, object]) -> str:
    """What a pretraining of the assignment's recipe depends on, some values of some sections changed."""
    parts = {name: getattr(HANDOUT, name).model_copy(update=values) for name, values in sections.items()}
    params = SETTINGS.model_copy(update={"recipes": {"handout": HANDOUT.model_copy(update=parts)}})
    return json.dumps(replace(Experiment.of(params, "handout", variant), backend=backend).settings("pretrain"))


def test_settings_that_change_a_training_are_among_what_it_depends_on() -> None:
    keys = [
        *map(depends, VARIANTS),
        depends(model={"dropout": 0.2}),
        depends(optimizer={"weight_decay": 0.2}),
        depends(pretrain={"epochs": 7}),
        depends(backend=BFLOAT16),
    ]
    assert len(set(keys)) == len(keys)
    assert depends(finetune={"scratch_epochs": 7}, report={"show_questions": True}) == keys[0]
