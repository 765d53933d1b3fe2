"""Training and answering on a pretended GPU give what the CPU gives, and nothing in a step waits for the host."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from stages.corpus.questions import prompt
from stages.experiment.backend import Backend
from stages.inference.generation import generate
from stages.training.cuda_graph import GraphTrainer, padded_loss, trainer_for
from tests.tiny import FLOAT32, HANDOUT, MODEL, VARIANTS, loud, tiny_model
from tests.training.closeness import usual_std
from tests.training.pretended_gpu import (
    DEVICE,
    PRETENDED_BFLOAT16,
    PRETENDED_FLOAT32,
    Graph,
    PretendedGpu,
    pretended_gpu,
)
from tests.training.test_cuda_graph import MOVED_APART, PREPARED, VOCABULARY, batch, graph_optimizer

ROWS = [16, 80, 16]  # of three batches, in two shapes


@pytest.fixture
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
    (found,) = gpu.waits
    assert found.startswith("aten.") and " at test_pretended_gpu.py:" in found


@pytest.mark.parametrize("wait", WAITING)
def test_nothing_of_the_host_is_captured(wait: str, gpu: PretendedGpu, numbers: Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"while capturing, at test_pretended_gpu.py:"), gpu.capture(Graph()):
        WAITING[wait](numbers)
    assert gpu.graphs == []


@pytest.mark.parametrize("mixed", [lambda x: x + torch.ones(4), lambda x: torch.stack([torch.ones(4), x])])
def test_tensors_of_two_devices_do_not_mix(mixed: Callable[[Tensor], Tensor], numbers: Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"on the device and on the CPU, at test_pretended_gpu.py:"):
        mixed(numbers)


def test_a_replay_reads_its_inputs_anew_but_no_number_of_the_host(gpu: PretendedGpu, numbers: Tensor) -> None:
    graph, factor = Graph(), torch.tensor(2.0)
    with gpu.capture(graph):
        doubled = numbers.view(2, 2).t() * factor
    numbers.fill_(3.0)
    factor.fill_(5.0)
    assert doubled.cpu().tolist() == [[0, 4], [2, 6]]  # what was captured is not yet run again
    graph.replay()
    assert doubled.cpu().tolist() == [[6, 6], [6, 6]]


def test_what_is_not_written_is_no_number(numbers: Tensor) -> None:
    assert torch.empty_like(numbers).isnan().all().item()


@pytest.mark.parametrize(("variant", "matrices"), [(variant, "adamw") for variant in VARIANTS] + [("rope", "muon")])
def test_graphs_move_the_weights_as_the_cpu_does_and_nothing_waits(variant: str, matrices: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    weights, losses = [], []
    for backend in (FLOAT32, PRETENDED_FLOAT32):
        with pretended_gpu() as gpu:
            trainer = trainer_for(copy.deepcopy(model), graph_optimizer(matrices), backend)
            gpu.waits.clear()
            found = [trainer.step(trainer.cut(batch(rows, seed)), 1e-4) for seed, rows in enumerate(ROWS)]
            waits = list(gpu.waits)
            losses.append([loss.item() for loss in found])
            weights.append(trainer.weights())
    assert isinstance(trainer, GraphTrainer)
    assert len(gpu.graphs) == len(trainer.graphs) == 2 == len(waits)  # a graph's first characters come from the host
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    on_cpu, on_gpu = weights
    for name, weight in first.items():
        apart, moved = (on_gpu[name] - on_cpu[name]).abs().mean(), (on_cpu[name] - weight).abs().mean()
        assert apart < MOVED_APART[matrices] * moved, name


FAULTS: dict[str, Callable[[Tensor], object]] = {
    "a value is read": lambda loss: loss.item(),
    "a mask chooses": lambda loss: loss.expand(2)[loss.expand(2) > 0],
    "a tensor lies on the CPU": lambda loss: loss + torch.ones(1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_graph_can_not_hold_is_not_captured(
    fault: str, gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = trainer_for(tiny_model("vanilla", VOCABULARY), HANDOUT.optimizer, PRETENDED_FLOAT32)

    def faulty(*args: Any) -> Tensor:
        loss = padded_loss(*args)
        FAULTS[fault](loss)
        return loss

    monkeypatch.setattr("stages.training.cuda_graph.padded_loss", faulty)
    with pytest.raises(RuntimeError, match=r"at test_pretended_gpu.py:"):
        trainer.step(trainer.cut(batch(16)), 1e-4)


def test_without_their_copy_a_graph_goes_on_with_the_first_inputs(gpu: PretendedGpu) -> None:
    trainer = trainer_for(tiny_model("vanilla", VOCABULARY), HANDOUT.optimizer, PRETENDED_FLOAT32)
    assert isinstance(trainer, GraphTrainer)
    losses = [trainer.clipped_gradients(trainer.cut(batch(16, seed))).item() for seed in (0, 1)]
    (graph,) = trainer.graphs.values()
    graph.characters = torch.empty_like(graph.characters)  # what a replay fills is not what it reads
    stale = [trainer.clipped_gradients(trainer.cut(batch(16, seed))).item() for seed in (0, 1)]
    assert losses[0] != losses[1] == stale[0] == stale[1]


@pytest.mark.parametrize("variant", ["vanilla", "rope", "window", "mqa", "perceiver", "perceiver_ar"])
def test_attention_is_left_to_the_device(variant: str, gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def written_out(*_: object, **__: object) -> None:
        raise AssertionError("all scores in the memory")

    for module in ("model.attention", "mixers.mqa"):
        monkeypatch.setattr(f"stages.{module}.attention_weights", written_out)
    model, tokens = tiny_model(variant, VOCABULARY).to(DEVICE), torch.zeros(2, 20, dtype=torch.long, device=DEVICE)
    whole = model(tokens).cpu()
    states = model.empty_states(2, 20)
    continued = torch.cat([model(part, states) for part in tokens.split([15, 5], dim=1)], dim=1).cpu()
    torch.testing.assert_close(continued, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", [PRETENDED_FLOAT32, PRETENDED_BFLOAT16], ids=lambda backend: backend.precision)
def test_the_seed_of_a_step_decides_a_graphs_dropout(backend: Backend, gpu: PretendedGpu) -> None:
    model = tiny_model("rope", VOCABULARY, model=MODEL.model_copy(update={"dropout": 0.3}))
    trainer = trainer_for(loud(model), HANDOUT.optimizer, backend)
    parts, losses = trainer.cut(batch(16)), []
    for seed in (1, 2, 1):  # the first makes the graph
        torch.manual_seed(seed)
        losses.append(trainer.clipped_gradients(parts).item())
    assert losses[0] == losses[2] != losses[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_is_answered(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    prompts = [prompt(PREPARED.questions["dev"][row])[: 9 + row] for row in range(3)]
    expected = generate(model, prompts, max_characters=3, end=None)
    with pretended_gpu():
        found = generate(copy.deepcopy(model).to(DEVICE), prompts, max_characters=3, end=None)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours.tokens, theirs.tokens)
        assert ours.probability == pytest.approx(theirs.probability, rel=1e-4)
