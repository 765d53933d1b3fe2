"""In which order the tests run, and on what."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from stages.experiment.experiment import choose_backend
from stages.model.cpu.library import identity, use_kernels
from tests.support.tiny import SETTINGS

pytest_plugins = ["tests.support.talking"]

# Tests work in folders of their own: a path from here would lead nowhere
if (data := os.environ.get("CS224N_DATA")) and Path(data).exists():
    os.environ["CS224N_DATA"] = str(Path(data).resolve())

# A file's tests run in one process: the long ones first, so that none is left to the end beside an idle process. In
# seconds of a core of 2026 these take between 110 and 7; no other file takes longer
LONGEST = (
    "test_pipeline", "test_executor", "test_cluster", "test_page", "test_report", "test_hostile", "test_interruption",
    "test_readme", "test_notebook", "test_variants",
)  # fmt: skip

settings.register_profile("suite", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("long", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("suite")  # `pytest --hypothesis-profile long` draws anew, and more


@pytest.fixture
def fixed_sums() -> Iterator[None]:
    """A GPU adds in a fixed order; a CPU always does."""
    if not torch.cuda.is_available():
        yield
        return
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def gpu_kernels() -> None:
    """On a GPU: those whose float32 is float32, which torch left alone would not choose for convolutions."""
    if torch.cuda.is_available():
        choose_backend(SETTINGS.compute.model_copy(update={"device": "cuda"}))


@pytest.fixture(params=["kernels", "torch"])
def either(request: pytest.FixtureRequest, gpu_kernels: None) -> Iterator[str]:
    """On a CPU, what computes between the matrix products."""
    if request.param == "kernels" and identity() == "torch":
        pytest.skip("no C++ compiler here")
    use_kernels(request.param == "kernels")
    yield request.param
    use_kernels(True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
