"""Which weights finetuning begins with."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from stages import finetune
from stages.experiment.cell import Cell
from stages.settings import load
from stages.training.run import Run, Training
from tests.support.talking import ChangeParams


def test_each_seed_begins_with_its_own_pretraining_and_from_scratch_with_none(
    project: Path, change: ChangeParams, monkeypatch: pytest.MonkeyPatch
) -> None:
    change({"recipes.quick.seeds": [1, 2]})
    monkeypatch.chdir(project)
    begun: dict[str, Path | None] = {}

    def complete(_: Run, trainings: Sequence[Training]) -> None:
        begun.update({training.name: training.first_weights for training in trainings})

    monkeypatch.setattr(Run, "complete", complete)
    finetune.train_here(Cell(load(), "quick", "vanilla"))
    pretrained = Path("data/weights/quick/vanilla/pretrained")
    assert begun == {
        "scratch-seed-1": None,
        "pretrained-seed-1": pretrained / "seed-1.safetensors",
        "scratch-seed-2": None,
        "pretrained-seed-2": pretrained / "seed-2.safetensors",
    }
