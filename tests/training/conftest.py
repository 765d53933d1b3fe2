"""Training is tested as the study lets it compute."""

import pytest
import torch

from stages.training.compute import choose_backend
from tests.tiny import SETTINGS


@pytest.fixture(autouse=True)
def gpu_kernels() -> None:
    """On a GPU: those whose float32 is float32, which torch left alone would not choose for convolutions."""
    if torch.cuda.is_available():
        choose_backend(SETTINGS.compute.model_copy(update={"device": "cuda"}))
