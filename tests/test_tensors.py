"""Weights on disk: read as written, the same bytes each time, and damage told in one line."""

import json
from pathlib import Path

import pytest
import torch

from stages.experiment.tensors import load_tensors, save_tensors
from stages.system.errors import StudyError

TENSORS = {
    "weight": torch.arange(6.0).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "steps": torch.tensor(7),
    "view": torch.arange(6.0).reshape(2, 3).T,
}


def test_tensors_and_facts_are_read_back(tmp_path: Path) -> None:
    save_tensors(tmp_path / "file", TENSORS, steps=3, seconds=1.5, name="Zoé")
    tensors, facts = load_tensors(tmp_path / "file")
    assert facts == {"steps": 3, "seconds": 1.5, "name": "Zoé"}
    assert set(tensors) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)


def test_equal_tensors_and_facts_are_equal_bytes(tmp_path: Path) -> None:
    save_tensors(tmp_path / "one", TENSORS, steps=3, seconds=1.5)
    save_tensors(tmp_path / "two", dict(reversed(TENSORS.items())), seconds=1.5, steps=3)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("damage", ["empty", "cut", "cut header", "text", "zeros"])
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "seed-1.safetensors"
    save_tensors(path, TENSORS)
    whole = path.read_bytes()
    content = {
        "empty": b"",
        "cut": whole[:-1],
        "cut header": whole[:20],
        "text": json.dumps({"weights": [1, 2]}).encode(),
        "zeros": bytes(len(whole)),
    }
    path.write_bytes(content[damage])
    with pytest.raises(StudyError) as told:
        load_tensors(path)
    message = str(told.value)
    assert message.startswith(f"{path} is damaged (")
    assert message.endswith("; delete it and run `dvc repro`")
    assert "\n" not in message


def test_a_missing_file_is_told_with_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"absent is missing; `dvc repro` makes it\Z"):
        load_tensors(tmp_path / "absent")
