"""Which device computes, and what is said where it is not the one that was hoped for."""

import warnings

import pytest
import torch

from stages.experiment.backend import TOLD, choose_backend
from stages.settings import Compute
from stages.system.errors import StudyError
from tests.support.tiny import SETTINGS

# torch 2.13's warning where the driver is older than its CUDA (c10/cuda/CUDAFunctions.cpp)
TOO_OLD = (
    "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU "
    "driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx"
)
SAID = (
    "torch finds no CUDA device here (CUDA initialization: The NVIDIA driver on your system is too old (found version "
)


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process tells, it has not told yet, and will not have told."""
    monkeypatch.setenv(TOLD, "")


def compute(device: str) -> Compute:
    return SETTINGS.compute.model_copy(update={"device": device})


def warn() -> bool:
    warnings.warn(TOO_OLD, stacklevel=1)
    return False


def test_auto_says_once_that_the_driver_is_too_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", warn)
    assert [choose_backend(compute("auto")).device.type for _ in range(2)] == ["cpu", "cpu"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "CUDA" in line]
    assert line == f"compute.device auto takes the CPU, for {SAID}11040))"


def test_cuda_alone_says_why_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", warn)
    with pytest.raises(StudyError) as error:
        choose_backend(compute("cuda"))
    assert str(error.value) == f"params.yaml: compute.device: was 'cuda', but {SAID}11040)); use auto or cpu"


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_a_machine_without_a_driver_is_no_news(
    device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", (lambda: False) if device == "auto" else warn)
    assert choose_backend(compute(device)).device.type == "cpu"
    assert "CUDA" not in capsys.readouterr().err
