"""The pretended GPU keeps a GPU's rules: nothing mixes, and where the host waits or takes part is known."""

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
    "item": lambda x: x.sum().item(),
    "if": lambda x: bool(x.sum() > 0),
    "to the CPU": lambda x: x.cpu(),
    "from the CPU": lambda x: torch.zeros(4).to(x.device),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 1],
    "write by a mask": lambda x: x.clone().index_put_((x > 1,), torch.zeros((), device=DEVICE)),
    "numbers on the CPU": lambda x: x[torch.tensor([1])],
}


@pytest.mark.parametrize("wait", WAITING)
def test_the_host_waits_and_it_is_known_where(wait: str, gpu: PretendedGpu, numbers: Tensor) -> None:
    assert gpu.waits == []
    WAITING[wait](numbers)
    (wait,) = gpu.waits
    assert wait.startswith("aten.") and " at test_pretended_gpu.py:" in wait


@pytest.mark.parametrize("wait", WAITING)
def test_the_host_takes_no_part_in_what_is_captured(wait: str, gpu: PretendedGpu, numbers: Tensor) -> None:
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


@pytest.mark.parametrize("shared", [True, False])
def test_in_one_memory_a_replay_writes_over_what_another_graph_made(
    shared: bool, gpu: PretendedGpu, numbers: Tensor
) -> None:
    graphs, made, pool = [Graph(), Graph()], [], list[Graph]()
    for number, graph in enumerate(graphs):
        with gpu.capture(graph, pool=pool if shared else None):
            made.append(numbers + number)
    for graph in graphs:
        graph.replay()
    assert bool(made[0].isnan().all()) == shared
    assert made[1].cpu().tolist() == [1, 2, 3, 4]


def test_what_is_not_written_is_no_number(numbers: Tensor) -> None:
    assert torch.empty_like(numbers).isnan().all().item()
