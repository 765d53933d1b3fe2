"""Training is tested as the study lets it compute."""

import os

import pytest


@pytest.fixture(autouse=True)
def as_trained(gpu_kernels: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here has it; that the tests' own parent may be gone does not matter."""
    monkeypatch.setattr("stages.STARTED_BY", os.getppid())
