"""Weights that mean something else by now are refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save

from stages import ask
from tests.commands.talking import ZOE, Run, error, tiny
from tests.project import with_sums, write_params

PROVENANCE = Path("data/weights/quick/vanilla/finetuned/provenance.json")
REFUSED = "was trained with other settings or characters; train anew with: dvc repro stages/dvc.yaml:finetune@quick-"


@pytest.fixture(name="change")
def change_fixture(project: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give the model of the recipe other settings, until the test ends."""

    def change(settings: dict[str, Any]) -> None:
        def write(content: dict[str, Any]) -> None:
            tiny(content)
            content["recipes"]["quick"]["model"] |= settings

        write_params(project, write)

    yield change
    write_params(project, tiny)


def test_weights_of_another_shape_are_refused_though_they_would_fit(
    run: Run, change: Callable[[dict[str, Any]], None]
) -> None:
    change({"heads": 4})
    assert REFUSED in error(run(ask, ZOE))


def test_what_matters_in_training_alone_may_change(run: Run, change: Callable[[dict[str, Any]], None]) -> None:
    change({"dropout": 0.5})
    assert run(ask, ZOE).code == 0


def of_other_settings(told: str) -> str:
    made = json.loads(told)
    made["settings"]["variant"]["vanilla"]["theta"] = 50.0
    return json.dumps(made)


@pytest.mark.parametrize("changed", [of_other_settings, lambda _: "[]", lambda _: '{"settings": {}}'])
def test_weights_of_other_settings_or_unknown_ones_are_refused(
    run: Run, project: Path, changed: Callable[[str], str]
) -> None:
    told = (project / PROVENANCE).read_text()
    (project / PROVENANCE).write_text(changed(told))
    assert "damaged" in error(run(ask, ZOE))
    with_sums((project / PROVENANCE).parent)
    try:
        assert REFUSED in error(run(ask, ZOE))
    finally:
        (project / PROVENANCE).write_text(told)
        with_sums((project / PROVENANCE).parent)


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    vocabulary = project / "data/prepared/quick/vocabulary.json"
    characters = json.loads(vocabulary.read_text())
    vocabulary.write_text(json.dumps([*characters[:2], *characters[:1:-1]]))
    with_sums(vocabulary.parent)
    try:
        assert REFUSED in error(run(ask, ZOE))
    finally:
        vocabulary.write_text(json.dumps(characters))
        with_sums(vocabulary.parent)


@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.complex64, torch.bfloat16, float("nan"), float("inf")])
def test_weights_of_other_numbers_than_a_training_leaves_are_refused(run: Run, project: Path, kind: object) -> None:
    path = project / "data/weights/quick/vanilla/finetuned/pretrained-seed-1.safetensors"
    whole, tensors = path.read_bytes(), load_file(path)
    tensors = {
        name: each.to(kind) if isinstance(kind, torch.dtype) else each.fill_(kind) for name, each in tensors.items()
    }
    path.write_bytes(save(tensors))
    with_sums(path.parent)
    try:
        assert "has other numbers than a training leaves" in error(run(ask, ZOE))
    finally:
        path.write_bytes(whole)
        with_sums(path.parent)
