"""Work folders: one a training, held by one process, gone when it ends well."""

import json
import os
from pathlib import Path

import pytest

from stages.errors import StudyError
from stages.model.mixers import settings_of
from stages.settings import Recipe
from stages.training.experiment import Experiment
from stages.training.work import work_folder
from tests.tiny import BFLOAT16, FLOAT32, HANDOUT, SETTINGS, VARIANTS

DEPENDS = {"recipe": {"epochs": 3}, "seeds": [1, 2]}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("some")
    return folder


def place(name: str, settings: object, *data: Path) -> Path:
    """The folder that such a training would have."""
    with work_folder(name, settings, *data) as folder:
        return folder


def failing(folder: Path) -> None:
    (folder / "checkpoint").write_text("half")
    raise OSError("disk")


def test_a_training_finds_its_folder_again_after_an_error(data: Path) -> None:
    with pytest.raises(OSError, match="disk"), work_folder("pretrain", DEPENDS, data) as folder:
        failing(folder)
    with work_folder("pretrain", dict(reversed(DEPENDS.items())), data) as again:
        assert again == folder
        assert (again / "checkpoint").read_text() == "half"


def test_a_finished_training_leaves_no_folder(data: Path) -> None:
    folder = place("pretrain", DEPENDS, data)
    assert folder.parent == Path("work")
    assert not folder.exists()


def test_whatever_the_result_depends_on_changes_the_folder(data: Path) -> None:
    folders = [
        place("pretrain", DEPENDS, data),
        place("finetune", DEPENDS, data),
        place("pretrain", {**DEPENDS, "seeds": [1]}, data),
        place("pretrain", {**DEPENDS, "recipe": {"epochs": 4}}, data),
    ]
    (data / "inner" / "file").write_text("other")
    folders.append(place("pretrain", DEPENDS, data))
    (data / "inner" / "file").rename(data / "inner" / "moved")
    folders.append(place("pretrain", DEPENDS, data))
    assert len(set(folders)) == len(folders)


def test_a_folder_that_is_held_is_refused_in_one_line_with_the_holder(data: Path) -> None:
    with work_folder("pretrain", DEPENDS, data) as folder:
        with pytest.raises(StudyError) as told, work_folder("pretrain", DEPENDS, data):
            pytest.fail("two trainings hold one folder")
        assert str(told.value) == (
            f"{folder}: process {os.getpid()} is training here already; wait for it or `kill {os.getpid()}`"
        )
        assert place("pretrain", {"other": 1}, data) != folder  # another one is free
    assert place("pretrain", DEPENDS, data) == folder  # and it is free again


def changed(**sections: dict[str, object]) -> Recipe:
    """The assignment's recipe with some values of some sections changed."""
    parts = {name: getattr(HANDOUT, name).model_copy(update=values) for name, values in sections.items()}
    return HANDOUT.model_copy(update=parts)


def test_settings_that_change_a_training_are_among_what_it_depends_on() -> None:
    def experiment(recipe: Recipe = HANDOUT, variant: str = VARIANTS[0], backend=FLOAT32) -> Experiment:
        section = settings_of(variant, SETTINGS.variants, recipe.model)
        return Experiment("handout", variant, recipe, section, backend, checkpoint_seconds=20.0)

    different = [
        experiment(),
        experiment(changed(model={"dropout": 0.2})),
        experiment(changed(optimizer={"weight_decay": 0.2})),
        experiment(changed(pretrain={"epochs": 7})),
        experiment(HANDOUT.model_copy(update={"seeds": [1, 2]})),
        experiment(backend=BFLOAT16),
        *(experiment(variant=variant) for variant in VARIANTS[1:]),
    ]
    keys = [json.dumps(each.settings("pretrain"), sort_keys=True) for each in different]
    assert len(set(keys)) == len(keys)
    unused = [experiment(changed(finetune={"scratch_epochs": 7})), experiment(changed(report={"show_questions": True}))]
    for each in unused:
        assert json.dumps(each.settings("pretrain"), sort_keys=True) == keys[0]
