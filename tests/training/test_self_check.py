"""A training on a GPU says what it runs on, and goes on without graphs, to the same weights, where these are wrong."""

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from stages.experiment.backend import Backend
from stages.training import cuda_graph, self_check
from stages.training.cuda_graph import GraphTrainer, padded_loss, trainer_for
from stages.training.loop import Job, train
from stages.training.trainer import Trainer
from tests.support.pretended_gpu import PRETENDED_BFLOAT16, PRETENDED_FLOAT32, pretended_gpu
from tests.support.tiny import FLOAT32, HANDOUT, loud, tiny_model
from tests.training.test_cuda_graph import VOCABULARY, assert_moved_alike, batch, graph_optimizer
from tests.training.test_loop import DROPPING, JOB, failing_at, same

REFUSED = "no CUDA graphs from here on, so steps take longer: "
Fault = Callable[[pytest.MonkeyPatch], None]


def in_the_step(touch: Callable[[Tensor], object]) -> Fault:
    """What touches the loss of each step that is run or captured."""

    def faulty(*args: Any) -> Tensor:
        loss = padded_loss(*args)
        touch(loss)
        return loss

    return lambda patch: patch.setattr(cuda_graph, "padded_loss", faulty)


def in_the_replay(change: Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]]) -> Fault:
    """Another loss and norm of a replay than it has."""
    replay = cuda_graph._Graph.replay
    return lambda patch: patch.setattr(
        cuda_graph._Graph, "replay", lambda graph, characters: change(graph, *replay(graph, characters))
    )


def forgotten_copy(patch: pytest.MonkeyPatch) -> None:
    def replay(graph: Any, characters: Tensor) -> tuple[Tensor, Tensor]:
        graph.graph.replay()
        return graph.loss.clone(), graph.norm.clone()

    patch.setattr(cuda_graph._Graph, "replay", replay)


def half_gradients(graph: Any, loss: Tensor, norm: Tensor) -> tuple[Tensor, Tensor]:
    torch._foreach_mul_(graph.buffers, 0.5)
    return loss, norm * 0.5


FAULTS: dict[str, tuple[Fault, str]] = {
    "a value is read": (in_the_step(lambda loss: loss.item()), "its capture failed: aten._local_scalar_dense"),
    "a mask chooses": (in_the_step(lambda x: x.expand(2)[x.expand(2) > 0]), "its capture failed: aten.index"),
    "the inputs are forgotten": (forgotten_copy, "two batches have one loss, "),
    "another loss": (in_the_replay(lambda _, loss, norm: (loss * 1.01, norm)), "the loss of a replay is "),
    "no loss": (in_the_replay(lambda _, loss, norm: (loss * torch.nan, norm)), "the loss of a replay is nan, of an "),
    "other gradients": (in_the_replay(half_gradients), "the gradient norm of a replay is "),
}


@pytest.mark.parametrize(("fault", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_graph_at_fault_is_refused_in_one_line_and_the_weights_are_right(
    fault: Fault, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = loud(tiny_model("rope", VOCABULARY))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    on_cpu = trainer_for(copy.deepcopy(model), graph_optimizer("adamw"), FLOAT32)
    for seed, rows in enumerate([16, 80, 16]):
        on_cpu.step(on_cpu.cut(batch(rows, seed)), 1e-4)
    with pretended_gpu():
        trainer = GraphTrainer(model, graph_optimizer("adamw"), PRETENDED_FLOAT32)
        fault(monkeypatch)
        for seed, rows in enumerate([16, 80, 16]):
            trainer.step(trainer.cut(batch(rows, seed)), 1e-4)
        weights = trainer.weights()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(REFUSED + reason)
    assert trainer.is_eager
    assert_moved_alike(first, weights, on_cpu.weights(), "adamw")


def test_an_error_of_the_step_itself_is_not_the_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_step(lambda loss: loss + torch.ones(1))(monkeypatch)
    with pretended_gpu():
        trainer = GraphTrainer(tiny_model("vanilla", VOCABULARY), HANDOUT.optimizer, PRETENDED_FLOAT32)
        with pytest.raises(RuntimeError, match=r"on the device and on the CPU, at test_self_check.py:"):
            trainer.step(trainer.cut(batch(16)), 1e-4)


def trained(
    checkpoint: Path, job: Job = JOB, backend: Backend = PRETENDED_FLOAT32, interval: float = 3600
) -> dict[str, Tensor]:
    """Weights after a training with dropout, from the checkpoint if there is one."""
    with pretended_gpu():
        trainer = trainer_for(tiny_model("vanilla", VOCABULARY, model=DROPPING), HANDOUT.optimizer, backend)
        train(trainer, job, 1, checkpoint, interval, "test")
        return {name: tensor.clone() for name, tensor in trainer.weights().items()}


@pytest.mark.parametrize("backend", [PRETENDED_FLOAT32, PRETENDED_BFLOAT16], ids=lambda backend: backend.precision)
def test_neither_a_check_nor_a_stop_changes_a_bit(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = trained(tmp_path / "straight", backend=backend)
    for steps in (4, 5):  # each life captures and checks anew
        with pytest.raises(ZeroDivisionError):
            trained(tmp_path / "stopped", replace(JOB, draw=failing_at(steps)), backend, interval=0)
    assert same(trained(tmp_path / "stopped", backend=backend), straight)
    monkeypatch.setattr(cuda_graph, "fault_of", lambda graph, characters: "nothing is captured or checked")
    assert same(trained(tmp_path / "eager", backend=backend), straight)


@pytest.mark.parametrize("waits", [False, True])
def test_a_step_that_waits_for_the_device_is_found_and_named(
    waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(self_check, "WATCHED", range(3, 8))
    expected = trained(tmp_path / "straight")
    assert REFUSED not in capsys.readouterr().err
    if waits:
        monkeypatch.setattr(Trainer, "_copy_masters", lambda trainer: trainer.masters[0].sum().item())
    assert same(trained(tmp_path / "watched"), expected)  # graphs or none
    lines = [line for line in capsys.readouterr().err.splitlines() if REFUSED in line]
    assert len(lines) == waits
    assert all(re.search(r"a step waits for the device, at test_self_check\.py:\d+$", line) for line in lines)


def test_the_device_and_its_driver_are_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 570.86.10\necho 570.86.10\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    trained(tmp_path / "checkpoint")
    assert capsys.readouterr().err.count("test: pretended GPU, float32, driver 570.86.10, CUDA 12.8\n") == 1
    tool.unlink()
    with pretended_gpu():
        assert "bfloat16, driver unknown, CUDA " in self_check.description(PRETENDED_BFLOAT16)
