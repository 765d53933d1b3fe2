"""What a result names as its origin: the commit, and the traits of the device, told without torch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from stages.experiment.experiment import choose_backend
from stages.experiment.provenance import commit, traits
from stages.model.cpu.library import has_kernels
from tests.support.tiny import ROOT, SETTINGS


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody; what it prints."""
    who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    return subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_changed_code_has_a_plus_and_changed_locks_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    (tmp_path / "stages").mkdir()
    files = [tmp_path / name for name in ("stages/code.py", "stages/dvc.lock", "notes.md")]
    for file in files:
        file.write_text("first")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    assert commit() == head
    for file in files[1:]:
        file.write_text("changed")
    assert commit() == head
    files[0].write_text("changed")
    assert commit() == f"{head}+"


@pytest.mark.parametrize("kernels", ["auto", "torch"])
@pytest.mark.parametrize("precision", ["auto", "float32", "bfloat16"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_traits_are_those_of_the_backend(device: str, precision: str, kernels: str) -> None:
    given = {"device": device, "precision": precision, "kernels": kernels}
    compute = SETTINGS.compute.model_copy(update=given)
    (kind, form, *others), backend = traits(compute), choose_backend(compute)
    assert (kind, form) == (backend.device.type, backend.precision)
    assert kind != "cpu" or (others == ["torch"]) == (backend.kernels == "torch")
    assert not (kernels == "torch" and has_kernels(torch.zeros(1)))
    choose_backend(SETTINGS.compute)


@pytest.mark.parametrize(
    ("torch_version", "visible", "kind"),
    [
        ("2.13.0", None, "cuda"),
        ("2.13.0", "0", "cuda"),
        ("2.13.0", "", "cpu"),
        ("2.13.0", "-1", "cpu"),
        ("2.13.0+cpu", None, "cpu"),
    ],
)
def test_a_gpu_counts_only_if_torch_may_use_it(
    torch_version: str, visible: str | None, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho 9.0\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr("stages.experiment.provenance.version", lambda _: torch_version)
    assert traits(SETTINGS.compute)[0] == kind


@pytest.mark.parametrize("module", ["jobs.job", "pretrain", "finetune", "evaluate"])
def test_a_stage_that_finds_its_jobs_done_loads_no_torch(module: str) -> None:
    code = f"import sys, stages.{module}; print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
