"""Training and answering on a pretended GPU give what the CPU gives; a real one is in the tests of every backend."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from stages.asking.generation import NEVER, generate
from stages.asking.prompts import Prompt
from stages.asking.recall import exact_matches
from stages.corpus.example import Examples
from stages.corpus.questions import question_prompt
from stages.experiment.experiment import Backend
from stages.settings.params import OptimizerSettings
from stages.training import gpu as gpu_training
from stages.training.gpu import GraphTrainer
from stages.training.loop import trainer_for
from stages.training.trainer import Trainer
from tests.support.pretended_gpu import DEVICE, PRETENDED_BFLOAT16, PRETENDED_FLOAT32, pretended_gpu
from tests.support.tiny import (
    FLOAT32,
    HANDOUT,
    VARIANTS,
    loud,
    tiny_model,
    tiny_prepared,
    usual_std,
)
from tests.training.test_equality import MOVED_APART
from tests.training.test_loop import PHASE, failing_at, same, trained

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)


def batch(rows: int, seed: int = 0) -> Examples:
    """Random characters, up to 60 a row: several parts where there are rows enough."""
    draws = np.random.default_rng(seed)
    texts = [draws.integers(2, VOCABULARY, size=length) for length in draws.integers(4, 61, size=rows)]
    return Examples.of_rows(texts, np.ones(rows, dtype=np.int64))


def graph_optimizer(matrices: str) -> OptimizerSettings:
    """It clips to so small a norm that AdamW's epsilon outweighs gradients that are rounding alone (a key's bias)."""
    return HANDOUT.optimizer.model_copy(update={"matrices": matrices, "gradient_clip": 0.01})


def assert_moved_alike(
    first: dict[str, Tensor], weights: dict[str, Tensor], expected: dict[str, Tensor], matrices: str
) -> None:
    """Weights are, next to how far they moved from the first, close to those expected."""
    for name, weight in first.items():
        apart, moved = (weights[name] - expected[name]).abs().mean(), (expected[name] - weight).abs().mean()
        assert apart < MOVED_APART[matrices] * moved, name


ROWS = [16, 80, 16]  # of three batches, in two shapes


def three_steps(trainer: Trainer) -> list[Tensor]:
    """The losses."""
    return [trainer.step(batch(rows, seed), 1e-4) for seed, rows in enumerate(ROWS)]


@pytest.mark.parametrize(("variant", "matrices"), [(variant, "adamw") for variant in VARIANTS] + [("rope", "muon")])
def test_pretended_graphs_move_the_weights_as_the_cpu_does_and_nothing_waits(
    variant: str, matrices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_training, "WARM_UP", 1)
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    on_cpu = trainer_for(copy.deepcopy(model), graph_optimizer(matrices), FLOAT32)
    expected = [loss.item() for loss in three_steps(on_cpu)]
    with pretended_gpu() as gpu:
        trainer = trainer_for(model, graph_optimizer(matrices), PRETENDED_FLOAT32)
        gpu.waits.clear()
        losses = three_steps(trainer)
        waits = list(gpu.waits)
        assert [len(trainer.split(batch(rows))) for rows in ROWS] == [1, 2, 1]
        results = [loss.item() for loss in losses]
        weights = trainer.weights()
    assert isinstance(trainer, GraphTrainer) and not trainer.is_eager
    assert len(gpu.graphs) == len(trainer.graphs) == 2
    assert len(waits) == 3 * 2 and all(" at gpu.py:" in wait for wait in waits)  # to check each graph, once
    assert results == pytest.approx(expected, rel=1e-5)
    assert_moved_alike(first, weights, on_cpu.weights(), matrices)


def read_a_value(patch: pytest.MonkeyPatch) -> None:
    loss = gpu_training.padded_loss
    patch.setattr(gpu_training, "padded_loss", lambda *given: (loss(*given), loss(*given).item())[0])


def forget_the_inputs(patch: pytest.MonkeyPatch) -> None:
    def replay(graph: Any, _: Tensor) -> tuple[Tensor, Tensor]:
        graph.graph.replay()
        return graph.loss.clone(), graph.norm.clone()

    patch.setattr(gpu_training._Graph, "replay", replay)


def halve_the_gradients(patch: pytest.MonkeyPatch) -> None:
    replay = gpu_training._Graph.replay

    def halved(graph: Any, characters: Tensor) -> tuple[Tensor, Tensor]:
        loss, norm = replay(graph, characters)
        torch._foreach_mul_(graph.trainer.buffers, 0.5)
        return loss, norm * 0.5

    patch.setattr(gpu_training._Graph, "replay", halved)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (read_a_value, "its capture failed: aten._local_scalar_dense"),
        (forget_the_inputs, "two batches have one loss, "),
        (halve_the_gradients, "the gradient norm of a replay is "),
    ],
)
def test_a_graph_at_fault_is_refused_in_one_line_and_the_weights_are_right(
    fault: Callable[[pytest.MonkeyPatch], None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = loud(tiny_model("rope", VOCABULARY))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    on_cpu = trainer_for(copy.deepcopy(model), graph_optimizer("adamw"), FLOAT32)
    three_steps(on_cpu)
    with pretended_gpu():
        trainer = GraphTrainer(model, graph_optimizer("adamw"), PRETENDED_FLOAT32)
        fault(monkeypatch)
        three_steps(trainer)
        weights = trainer.weights()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"no CUDA graphs from here on, so steps take longer: {reason}")
    assert trainer.is_eager
    assert_moved_alike(first, weights, on_cpu.weights(), "adamw")


def pretended(checkpoint: Path, backend: Backend, **how: Any) -> dict[str, Tensor]:
    """Weights after a training with dropout, from the checkpoint if there is one."""
    with pretended_gpu():
        return trained(checkpoint, backend=backend, **how)[0]


@pytest.mark.parametrize("backend", [PRETENDED_FLOAT32, PRETENDED_BFLOAT16], ids=lambda backend: backend.precision)
def test_neither_a_graph_nor_its_check_nor_a_stop_changes_a_bit(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = pretended(tmp_path / "straight", backend)
    for steps in (4, 5):  # each life captures and checks anew
        with pytest.raises(ZeroDivisionError):
            pretended(tmp_path / "stopped", backend, phase=replace(PHASE, draw=failing_at(steps)), interval=0)
    assert same(pretended(tmp_path / "stopped", backend), straight)
    monkeypatch.setattr(
        gpu_training._Graph, "capture_fault", lambda graph, characters: "nothing is captured or checked"
    )
    assert same(pretended(tmp_path / "eager", backend), straight)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_pretended_gpu_answers_and_matches_the_same(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    prompts = [question_prompt(PREPARED.questions["dev"][row])[: 9 + row] for row in range(3)]
    dev = PREPARED.of_split("dev")
    probes = [Prompt(question, place) for question, place in zip(dev.question, dev.place, strict=True)]
    expected = generate(model, prompts, max_characters=3, end=NEVER)
    matches = exact_matches(model, PREPARED.vocabulary, probes).tolist()
    with pretended_gpu():
        answers = generate(model.to(DEVICE), prompts, max_characters=3, end=NEVER)
        assert exact_matches(model, PREPARED.vocabulary, probes).tolist() == matches
    for ours, theirs in zip(answers, expected, strict=True):
        assert np.array_equal(ours.tokens, theirs.tokens)
        assert ours.probability == pytest.approx(theirs.probability, rel=1e-4)
