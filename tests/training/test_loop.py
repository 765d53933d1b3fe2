"""Training as a whole: it learns, repeats itself to the bit, and goes on from a checkpoint that is whole."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from stages.corpus.example import Examples
from stages.corpus.objectives import span_corruption
from stages.experiment.experiment import Backend, Experiment
from stages.settings.params import Pretrain, Schedule
from stages.system.errors import UserError
from stages.system.files import write_bytes
from stages.training.loop import load_checkpoint, move_positions, train, train_to, trainer_for
from stages.training.phases import Phase, finetuning
from stages.training.trainer import Trainer
from tests.support.tiny import (
    BACKENDS,
    BFLOAT16,
    FLOAT32,
    MODEL,
    SETTINGS,
    VARIANTS,
    loud,
    spans,
    tiny_model,
    tiny_prepared,
)

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)
DROPPING = MODEL.model_copy(update={"dropout": 0.1})


def draw_spans(rows: np.ndarray, generator: np.random.Generator) -> Examples:
    return span_corruption(PREPARED.documents, rows, spans(10, 30), generator)


SCHEDULE = Schedule(warmup_tokens=500, decay_epochs=5.0, min_lr_ratio=0.1)


def settings(**changed: Any) -> Pretrain:
    """Settings of a short pretraining."""
    usual = {"batch_size": 3, "learning_rate": 3e-3, "schedule": SCHEDULE}
    return SETTINGS.recipes["quick"].pretrain.model_copy(update=usual | changed)


PHASE = Phase(
    name="pretrain",
    key="recipes.mine.pretrain",
    draw=draw_spans,
    row_count=len(PREPARED.documents),
    epochs=5,
    settings=settings(),
    context=MODEL.context,
)


def new_trainer(
    seed: int = 1, variant: str = VARIANTS[0], backend: Backend = FLOAT32, recipe: str = "handout"
) -> Trainer:
    """Make a trainer of a model with dropout and its first weights."""
    return trainer_for(tiny_model(variant, VOCABULARY, seed, DROPPING), SETTINGS.recipes[recipe].optimizer, backend)


def trained(
    checkpoint: Path,
    seed: int = 1,
    variant: str = VARIANTS[0],
    backend: Backend = FLOAT32,
    phase: Phase = PHASE,
    interval: float = 3600,
    recipe: str = "handout",
) -> tuple[dict[str, Tensor], np.ndarray]:
    """Train such a model from its first weights, or from the checkpoint: its weights and losses."""
    trainer = new_trainer(seed, variant, backend, recipe)
    losses = train(trainer, phase, seed, checkpoint, interval, "test").losses
    return {name: tensor.clone() for name, tensor in trainer.weights().items()}, losses


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def failing_at(step: int) -> Callable[[np.ndarray, np.random.Generator], Examples]:
    calls = count()

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        if next(calls) == step:
            raise ZeroDivisionError  # stands for whatever ends a process
        return draw_spans(rows, generator)

    return draw


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("recipe", ["handout", "open"])  # AdamW and Muon
@pytest.mark.usefixtures("fixed_sums")
def test_the_seed_decides_the_weights_to_the_bit_and_a_stop_does_not(
    tmp_path: Path, backend: Backend, recipe: str
) -> None:
    def resumed(**how: Any) -> tuple[dict[str, Tensor], np.ndarray]:
        return trained(tmp_path / "checkpoint", backend=backend, recipe=recipe, **how)

    expected, straight = trained(tmp_path / "straight", backend=backend, recipe=recipe)
    assert not same(trained(tmp_path / "other", seed=2, backend=backend, recipe=recipe)[0], expected)
    done, seconds = 0, 0.0
    for steps in (4, 2, 5):
        with pytest.raises(ZeroDivisionError):
            resumed(phase=replace(PHASE, draw=failing_at(steps)), interval=0)
        done += steps
        trainer = new_trainer(9, backend=backend, recipe=recipe)
        progress = load_checkpoint(tmp_path / "checkpoint", trainer, PHASE.steps)
        assert progress.steps == done and progress.seconds > seconds  # of all its lives
        seconds = progress.seconds
    weights, losses = resumed()
    again, _ = resumed(phase=replace(PHASE, draw=failing_at(0)))  # what ended draws nothing
    assert same(again, weights) and same(weights, expected) and np.array_equal(losses, straight)


def test_damage_is_told_and_the_weights_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, losses = trained(tmp_path / "straight.checkpoint", backend=BFLOAT16)
    path = tmp_path / "a.checkpoint"
    with pytest.raises(ZeroDivisionError):
        trained(path, backend=BFLOAT16, phase=replace(PHASE, draw=failing_at(6)), interval=0)
    path.write_bytes(path.read_bytes()[:-500])
    capsys.readouterr()
    weights, losses_after = trained(path, backend=BFLOAT16)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert line.startswith(f"{path} is damaged (") and line.endswith("); the training starts anew")
    assert same(weights, expected) and (losses_after == losses).all()


def test_each_step_has_the_rate_of_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates, take = [], Trainer.step
    monkeypatch.setattr(Trainer, "step", lambda self, parts, rate: rates.append(rate) or take(self, parts, rate))
    trained(tmp_path / "checkpoint")
    assert rates == [PHASE.rate(step) for step in range(15)] and len({*rates}) > 10


def test_a_warmup_longer_than_the_decay_is_refused() -> None:
    message = r"recipes\.mine\.pretrain\.schedule\.{}: the warm-up has {} tokens; allowed: less than {}, until"
    with pytest.raises(UserError, match=message.format("warmup_tokens", 5000, 2560)):  # 5 epochs of 8 rows of 64
        replace(PHASE, settings=settings(schedule=Schedule(warmup_tokens=5000, decay_epochs=None, min_lr_ratio=0.1)))
    with pytest.raises(UserError, match=message.format("warmup_share", 1280, 1024)):  # half of the run, two epochs
        replace(PHASE, settings=settings(schedule=Schedule(warmup_share=0.5, decay_epochs=2.0, min_lr_ratio=0.1)))


AXES = {"synthesizer": {"table": (0,), "offsets": (0,)}, "random_synthesizer": {"scores": (1, 2)}}
BY = 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_and_columns_of_scores_move_and_all_else_stays(variant: str) -> None:
    model = loud(tiny_model(variant))
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    move_positions(model, BY)
    for name, weight in model.state_dict().items():
        expected = before[name]
        axes = (0,) if name == "positions" else AXES.get(variant, {}).get(name.rpartition(".")[2], ())
        for axis in axes:
            rest = expected.shape[axis] - BY
            expected = torch.cat([expected.narrow(axis, 0, BY), expected.narrow(axis, 0, rest)], axis)
        assert torch.equal(weight, expected), name


def test_a_finetuning_begins_with_the_moved_positions_of_its_first_weights(tmp_path: Path) -> None:
    changed = {"recipes.quick.finetune.moved_positions": BY, "recipes.quick.finetune.learning_rate": 1e-9}
    experiment = Experiment.of(SETTINGS.changed(changed), "quick", "vanilla")
    first = loud(experiment.new_model(PREPARED, seed=0)).state_dict()
    write_bytes(tmp_path / "first.safetensors", save(first))
    phase = finetuning(experiment, PREPARED, "pretrained")
    train_to(tmp_path / "last.safetensors", experiment, PREPARED, phase, 1, {}, tmp_path / "first.safetensors")
    last = load_file(tmp_path / "last.safetensors")
    expected = torch.cat([first["positions"][:BY], first["positions"][:-BY]])
    assert torch.allclose(last["positions"], expected, atol=1e-6)
    assert torch.allclose(last["embedding.weight"], first["embedding.weight"], atol=1e-6)
