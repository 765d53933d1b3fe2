"""Weights that mean something else by now are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save

from stages import ask
from tests.commands.talking import ZOE, ChangeParams, Run, error
from tests.project import with_content

PROVENANCE = Path("data/weights/quick/vanilla/finetuned/provenance.json")
REFUSED = "was trained with other settings or characters; train anew with: dvc repro stages/dvc.yaml:finetune@quick-"


def test_weights_of_another_shape_are_refused_though_they_would_fit(run: Run, change: ChangeParams) -> None:
    change({"recipes.quick.model.heads": 4})
    assert REFUSED in error(run(ask, ZOE))


def test_what_matters_in_training_alone_may_change(run: Run, change: ChangeParams) -> None:
    change({"recipes.quick.model.dropout": 0.5})
    assert run(ask, ZOE).code == 0


def of_other_settings(told: str) -> str:
    made = json.loads(told)
    made["settings"]["variant"]["vanilla"]["theta"] = 50.0
    return json.dumps(made)


@pytest.mark.parametrize("changed", [of_other_settings, lambda _: "[]", lambda _: '{"settings": {}}'])
def test_weights_of_other_settings_or_unknown_ones_are_refused(
    run: Run, project: Path, changed: Callable[[str], str]
) -> None:
    path = project / PROVENANCE
    made = changed(path.read_text()).encode()
    with with_content(path, made):
        assert "damaged" in error(run(ask, ZOE))
    with with_content(path, made, sums=True):
        assert REFUSED in error(run(ask, ZOE))


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    vocabulary = project / "data/prepared/quick/vocabulary.json"
    characters = json.loads(vocabulary.read_text())
    with with_content(vocabulary, json.dumps([*characters[:2], *characters[:1:-1]]).encode(), sums=True):
        assert REFUSED in error(run(ask, ZOE))


@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.complex64, torch.bfloat16, float("nan"), float("inf")])
def test_weights_of_other_numbers_than_a_training_leaves_are_refused(run: Run, project: Path, kind: object) -> None:
    path = project / "data/weights/quick/vanilla/finetuned/pretrained-seed-1.safetensors"
    tensors = load_file(path)
    tensors = {
        name: each.to(kind) if isinstance(kind, torch.dtype) else each.fill_(kind) for name, each in tensors.items()
    }
    with with_content(path, save(tensors), sums=True):
        assert "has other numbers than a training leaves" in error(run(ask, ZOE))
