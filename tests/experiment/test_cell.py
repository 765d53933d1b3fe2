"""A cell: what may change while it trains, and which of the selected trainings it is."""

from pathlib import Path
from typing import Any

import pytest

from stages.experiment.cell import Cell
from stages.experiment.experiment import Experiment
from stages.settings import load
from stages.system.errors import StudyError
from tests.support.project import write_params

CELL = ("quick", "rope")


@pytest.mark.parametrize(
    ("key", "value", "is_changed"),
    [
        ("recipes.quick.pretrain.epochs", 3, True),
        ("recipes.quick.seeds", [9], True),
        ("variants.rope.theta", 5.0, True),
        ("compute.precision", "float32", True),
        ("recipes.quick.finetune.scratch_epochs", 3, False),
        ("recipes.handout.seeds", [9], False),
        ("compute.checkpoint_seconds", 5, False),
    ],
)
def test_settings_of_a_result_may_not_change_while_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: Any, is_changed: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path)
    cell = Cell(load(), *CELL)
    write_params(tmp_path, values={key: value})
    if not is_changed:
        cell.check_unchanged(["pretrain"])
        return
    with pytest.raises(
        StudyError, match=r"^params.yaml: the settings of quick, rope were changed while it trained; undo"
    ):
        cell.check_unchanged(["pretrain"])


@pytest.mark.parametrize(
    ("variant", "title"),
    [("rope", "2 of 2: rope finetune, seed 1"), ("min_gru", "min_gru finetune, seed 1")],
)
def test_a_training_is_one_of_those_selected_or_stands_alone(tmp_path: Path, variant: str, title: str) -> None:
    compared = {"model.variant": "compared", "study.compared": ["vanilla", "rope"]}
    write_params(tmp_path, values={"recipe": "quick", "recipes.quick.seeds": [1, 2, 3], **compared})
    experiment = Experiment.to_train(Cell(load(tmp_path / "params.yaml"), "quick", variant))
    assert experiment.title("finetune_pretrained", 1) == title
