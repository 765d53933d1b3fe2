"""Weights on disk: read as written, the same bytes each time, and damage told in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from stages.experiment.tensors import load_tensors, save_tensors
from stages.system.errors import StudyError
from tests.project import with_sums

TENSORS = {
    "weight": torch.arange(6.0).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "steps": torch.tensor(7),
    "view": torch.arange(6.0).reshape(2, 3).T,
}


def test_tensors_are_read_back_and_make_the_same_bytes(tmp_path: Path) -> None:
    save_tensors(tmp_path / "file", TENSORS)
    with_sums(tmp_path)
    tensors = load_tensors(tmp_path / "file")
    torch.testing.assert_close(tensors, TENSORS, rtol=0, atol=0)
    save_tensors(tmp_path / "again", dict(reversed(tensors.items())))
    assert (tmp_path / "file").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("damage", [lambda _: b"", lambda whole: whole[:-1], lambda whole: whole[:20], lambda _: b"{}"])
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "seed-1.safetensors"
    save_tensors(path, TENSORS)
    with_sums(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StudyError, match=rf"\A{path} is damaged; delete it and run `dvc repro`\Z"):
        load_tensors(path)


def test_a_missing_file_is_told_with_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"absent is missing; `dvc repro` makes it\Z"):
        load_tensors(tmp_path / "absent")
