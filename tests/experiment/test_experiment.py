"""Which device computes, and what is said where it is not the one that was hoped for."""

import warnings

import pytest
import torch

from stages.experiment.experiment import choose_backend
from stages.system.errors import UserError
from tests.support.tiny import SETTINGS

# torch 2.13's warning where the driver is older than its CUDA (c10/cuda/CUDAFunctions.cpp)
TOO_OLD = "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)"
WHY_NOT = f"torch finds no CUDA device here ({TOO_OLD})"


@pytest.fixture(autouse=True)
def old_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that torch cannot use, of which this process has not told yet."""

    def is_available() -> bool:
        warnings.warn(f"{TOO_OLD}. Please update your GPU driver", stacklevel=1)
        return False

    monkeypatch.setenv("KNOWLEDGE_ACCESS_TOLD_OF_DRIVER", "")
    monkeypatch.setattr(torch.cuda, "is_available", is_available)


def device_chosen(device: str) -> str:
    return choose_backend(SETTINGS.compute.model_copy(update={"device": device})).device.type


def test_auto_says_once_that_the_driver_is_too_old(capsys: pytest.CaptureFixture[str]) -> None:
    assert [device_chosen("auto"), device_chosen("auto")] == ["cpu", "cpu"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "CUDA" in line]
    assert line == f"compute.device auto takes the CPU, for {WHY_NOT}"


def test_cuda_alone_says_why_there_is_none() -> None:
    with pytest.raises(UserError) as error:
        device_chosen("cuda")
    assert str(error.value) == f"params.yaml: compute.device: was 'cuda', but {WHY_NOT}; use auto or cpu"


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_a_machine_without_a_driver_is_no_news(
    device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if device == "auto":
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_chosen(device) == "cpu"
    assert "CUDA" not in capsys.readouterr().err
