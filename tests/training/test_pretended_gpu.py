"""The pretended GPU keeps a GPU's rules: it is known where the host waits, and the host takes no part in a capture."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from tests.support.pretended_gpu import DEVICE, Graph, PretendedGpu, pretended_gpu


@pytest.fixture(autouse=True)
def gpu() -> Iterator[PretendedGpu]:
    with pretended_gpu() as entered:
        yield entered


@pytest.fixture
def numbers(gpu: PretendedGpu) -> Tensor:
    """0…3 on the device."""
    return torch.arange(4.0, device=DEVICE)


WAITING: dict[str, Callable[[Tensor], object]] = {
    "if": lambda x: bool(x.sum() > 0),
    "to the CPU": lambda x: x.cpu(),
    "from the CPU": lambda x: torch.zeros(4).to(x.device),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 1],
    "numbers on the CPU": lambda x: x[torch.tensor([1])],
}


@pytest.mark.parametrize("wait", WAITING)
def test_where_the_host_waits_is_known_and_refused_in_a_capture(wait: str, gpu: PretendedGpu, numbers: Tensor) -> None:
    WAITING[wait](numbers)
    (place,) = gpu.waits
    assert place.startswith("aten.") and " at test_pretended_gpu.py:" in place
    with pytest.raises(RuntimeError, match=r"while capturing, at test_pretended_gpu.py:"), gpu.capture(Graph()):
        WAITING[wait](numbers)
    assert gpu.graphs == []


def test_a_replay_reads_its_inputs_anew_but_no_number_of_the_host(gpu: PretendedGpu, numbers: Tensor) -> None:
    graph, factor = Graph(), torch.tensor(2.0)
    with gpu.capture(graph):
        doubled = numbers.view(2, 2).t() * factor
    numbers.fill_(3.0)
    factor.fill_(5.0)
    assert doubled.cpu().tolist() == [[0, 4], [2, 6]]  # what was captured is not yet run again
    graph.replay()
    assert doubled.cpu().tolist() == [[6, 6], [6, 6]]
