"""Weights that mean something else by now are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from stages import ask
from tests.commands.talking import ZOE, Run, error, tiny
from tests.project import write_params

PROVENANCE = Path("data/weights/quick/vanilla/finetuned/provenance.json")


def test_weights_of_another_shape_are_refused_though_they_would_fit(run: Run, project: Path) -> None:
    def regroup(content: dict[str, Any]) -> None:
        tiny(content)
        content["recipes"]["quick"]["model"] |= {"heads": 4, "dropout": 0.5}

    write_params(project, regroup)
    try:
        line = error(run(ask, ZOE))
    finally:
        write_params(project, tiny)
    assert "was trained with recipes.quick.model.heads: 2, params.yaml has 4; change that back, or train anew" in line
    assert "dvc repro stages/dvc.yaml:finetune@quick-vanilla" in line


def test_weights_of_other_settings_of_their_variant_are_refused(run: Run, project: Path) -> None:
    told = (project / PROVENANCE).read_text()
    made = json.loads(told)
    made["settings"]["variant"]["vanilla"]["theta"] = 50.0
    (project / PROVENANCE).write_text(json.dumps(made))
    try:
        assert "was trained with variants.vanilla.theta: 50.0, params.yaml has None" in error(run(ask, ZOE))
    finally:
        (project / PROVENANCE).write_text(told)


def test_what_matters_in_training_alone_may_change(run: Run, project: Path) -> None:
    def train_on(content: dict[str, Any]) -> None:
        tiny(content)
        content["recipes"]["quick"]["model"]["dropout"] = 0.5
        content["recipes"]["quick"]["finetune"]["pretrained_epochs"] = 7

    write_params(project, train_on)
    try:
        assert run(ask, ZOE).code == 0
    finally:
        write_params(project, tiny)


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    vocabulary = project / "data/prepared/quick/vocabulary.json"
    characters = json.loads(vocabulary.read_text())
    vocabulary.write_text(json.dumps([*characters[:2], *characters[:1:-1]]))
    try:
        assert "was trained with other characters than data/prepared/quick has" in error(run(ask, ZOE))
    finally:
        vocabulary.write_text(json.dumps(characters))
    assert run(ask, ZOE).code == 0


@pytest.mark.parametrize("content", ["", "[]", '{"settings": {}}'])
def test_weights_that_do_not_tell_where_they_come_from_are_refused(run: Run, project: Path, content: str) -> None:
    path = project / PROVENANCE
    told = path.read_text()
    path.write_text(content)
    try:
        assert "provenance.json is missing or broken" in error(run(ask, ZOE))
    finally:
        path.write_text(told)
