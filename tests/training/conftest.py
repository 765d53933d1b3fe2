"""Training is tested as the study lets it compute."""

import pytest


@pytest.fixture(autouse=True)
def as_trained(gpu_kernels: None) -> None:
    """Every test here has it."""
