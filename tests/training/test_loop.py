"""Training as a whole: it learns, it repeats itself to the bit, and it goes on where it stopped."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, pairwise, repeat
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from stages.corpus.example import Examples
from stages.corpus.questions import prompt, question_examples
from stages.corpus.span_corruption import span_corruption
from stages.experiment.backend import Backend
from stages.experiment.tensors import load_tensors
from stages.inference.generation import generate
from stages.settings import Schedule
from stages.system.errors import StudyError
from stages.training.batches import split_by_length
from stages.training.cuda_graph import trainer_for
from stages.training.loop import History, Job, train
from stages.training.trainer import Trainer
from tests.tiny import BACKENDS, BIRTHPLACES, FLOAT32, HANDOUT, MODEL, VARIANTS, spans, tiny_model, tiny_prepared

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)
DROPPING = MODEL.model_copy(update={"dropout": 0.1})


def draw_spans(rows: np.ndarray, generator: np.random.Generator) -> Examples:
    return span_corruption(PREPARED.documents, rows, spans(10, 30), generator)


JOB = Job(
    phase="pretrain",
    draw=draw_spans,
    rows=len(PREPARED.documents),
    epochs=5,
    batch_size=3,
    peak_rate=3e-3,
    schedule=Schedule(warmup_tokens=500, decay_epochs=5.0, min_lr_ratio=0.1),
    context=MODEL.context,
)


def trained(
    checkpoint: Path,
    seed: int = 1,
    variant: str = VARIANTS[0],
    backend: Backend = FLOAT32,
    job: Job = JOB,
    interval: float = 3600,
) -> tuple[dict[str, Tensor], History]:
    """Train a model with dropout from its first weights, or from the checkpoint."""
    trainer = trainer_for(tiny_model(variant, VOCABULARY, seed, DROPPING), HANDOUT.optimizer, backend)
    history = train(trainer, job, seed, checkpoint, interval, "test")
    return {name: tensor.clone() for name, tensor in trainer.weights().items()}, history


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_training_reduces_the_loss(variant: str, backend: Backend, tmp_path: Path) -> None:
    long = replace(JOB, epochs=30, schedule=JOB.schedule.model_copy(update={"decay_epochs": 30.0}))
    _, history = trained(tmp_path / "checkpoint", variant=variant, backend=backend, job=long)
    assert history.losses.shape == (long.steps,) == (90,)
    assert history.losses[0] == pytest.approx(np.log(VOCABULARY), rel=0.05)  # nothing is known at first
    assert history.losses[-10:].mean() < 0.8 * history.losses[0]
    assert history.seconds > 0


@pytest.mark.parametrize("variant", ["rope", "perceiver_ar"])  # with the usual backbone and with one of its own
def test_eight_facts_are_learned_by_heart_and_said_when_asked(variant: str) -> None:
    trainer = Trainer(tiny_model(variant, VOCABULARY), HANDOUT.optimizer, FLOAT32)
    parts = split_by_length(question_examples(PREPARED.questions["train"], PREPARED.answers["train"], np.arange(8)))
    for number in range(800):
        if trainer.step(parts, 3e-3 * min(1.0, (number + 1) / 20)) < 0.01:
            break
    prompts = [prompt(PREPARED.questions["dev"][row]) for row in range(8)]
    answers = generate(trainer.model, prompts, max_characters=32)
    assert [PREPARED.vocabulary.decode(answer.tokens) for answer in answers] == list(BIRTHPLACES.values())
    assert min(answer.probability for answer in answers) > 0.5


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.usefixtures("fixed_sums")
def test_the_seed_decides_the_weights_to_the_bit(tmp_path: Path, backend: Backend) -> None:
    (first, curve), (again, curve_again), (other, _) = (
        trained(tmp_path / name, seed, backend=backend) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert same(first, again)
    assert np.array_equal(curve.losses, curve_again.losses)
    assert not same(first, other)


class Interrupted(Exception):
    """Stands for whatever ends a process."""


def failing_at(step: int) -> Callable[[np.ndarray, np.random.Generator], Examples]:
    calls = 0

    def draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        nonlocal calls
        calls += 1
        if calls == step + 1:
            raise Interrupted
        return draw_spans(rows, generator)

    return draw


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("stops", [[1], [4, 2, 5]])
@pytest.mark.usefixtures("fixed_sums")
def test_a_training_that_stopped_goes_on_to_the_same_weights(
    tmp_path: Path, stops: list[int], backend: Backend
) -> None:
    expected, straight = trained(tmp_path / "straight", backend=backend)
    checkpoint, done = tmp_path / "checkpoint", 0
    for steps in stops:
        with pytest.raises(Interrupted):
            trained(checkpoint, backend=backend, job=replace(JOB, draw=failing_at(steps)), interval=0)
        done += steps
        assert load_tensors(checkpoint)[1]["steps"] == done
    weights, resumed = trained(checkpoint, backend=backend)
    assert same(weights, expected)
    assert np.array_equal(resumed.losses, straight.losses)


def test_a_training_that_ended_is_not_repeated(tmp_path: Path) -> None:
    expected, _ = trained(tmp_path / "checkpoint")
    weights, _ = trained(tmp_path / "checkpoint", job=replace(JOB, draw=failing_at(0)))
    assert same(weights, expected)


def test_checkpoints_are_written_no_oftener_than_asked(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        trained(tmp_path / "checkpoint", job=replace(JOB, draw=failing_at(5)))
    assert list(tmp_path.iterdir()) == []


class Clock:
    """A time that passes only where the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("stages.training.loop.time.monotonic", lambda: self.now)


def test_checkpoints_cost_less_than_two_percent_of_the_time_however_slow_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    costs = chain([1.0, 3.0], repeat(0.1))
    written: list[tuple[float, float]] = []

    def slow_save(path: Path, tensors: dict[str, Tensor], **facts: object) -> None:
        began = clock.now
        clock.now += next(costs)
        written.append((began, clock.now))

    def slow_draw(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        clock.now += 1
        return draw_spans(rows, generator)

    monkeypatch.setattr("stages.training.loop.save_tensors", slow_save)
    long = replace(JOB, epochs=90, draw=slow_draw)  # 270 steps
    _, history = trained(tmp_path / "checkpoint", job=long, interval=20)
    assert written[0] == (20, 21)  # the interval, as long as nothing is known of the disk
    assert written[1] == (71, 74)  # 50 times 1 s after the first
    assert written[2][0] == 224  # 50 times 3 s after the second
    assert written[3][0] == pytest.approx(244.1)  # the interval again: a tenth of a second allows it
    for (began, ended), (next_began, _) in pairwise(written[:-1]):
        assert (ended - began) / (next_began - began) < 0.02
    assert history.seconds == clock.now


def test_an_interval_of_zero_writes_after_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[object] = []
    monkeypatch.setattr("stages.training.loop.save_tensors", lambda *_, **facts: steps.append(facts["steps"]))
    trained(tmp_path / "checkpoint", interval=0)
    assert steps == [*range(1, JOB.steps + 1), JOB.steps]


@pytest.mark.parametrize("steps", [0, 4, JOB.steps])
def test_a_training_whose_parent_is_gone_stops_after_the_step_and_goes_on_to_the_same_weights(
    tmp_path: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = trained(tmp_path / "straight")
    told = rf"stopped after step {steps} of {JOB.steps}, because .* is gone; the same command goes on from there"
    looks = iter([False] * steps)
    with monkeypatch.context() as system:
        system.setattr("stages.system.lifetime.parent_is_gone", lambda: next(looks, True))
        with pytest.raises(KeyboardInterrupt, match=told):
            trained(tmp_path / "checkpoint")
    assert load_tensors(tmp_path / "checkpoint")[1]["steps"] == steps
    assert same(trained(tmp_path / "checkpoint")[0], expected)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])  # the second as when a disk has errors
def test_a_disk_that_refuses_costs_the_steps_since_the_last_checkpoint_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    expected, _ = trained(tmp_path / "straight")
    checkpoint = tmp_path / "work" / "checkpoint"
    writes = iter(range(100))

    def refuse(descriptor: int) -> None:
        if next(writes) == 3:
            raise OSError(number, os.strerror(number))

    with monkeypatch.context() as disk:
        disk.setattr("os.fsync", refuse)
        with pytest.raises(OSError, match=os.strerror(number)) as fault:
            trained(checkpoint, interval=0)
    assert fault.value.filename == str(checkpoint)
    assert [path.name for path in checkpoint.parent.iterdir()] == ["checkpoint"]
    assert load_tensors(checkpoint)[1]["steps"] == 3
    assert same(trained(checkpoint)[0], expected)


def test_a_loss_that_is_no_number_ends_the_training_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"the loss is (nan|inf) at step [0-9]+ of .*learning_rate") as fault:
        trained(tmp_path / "checkpoint", job=replace(JOB, peak_rate=1e30))
    assert "\n" not in str(fault.value)
    assert not (tmp_path / "checkpoint").exists()


def test_a_warmup_longer_than_the_decay_is_refused() -> None:
    with pytest.raises(StudyError, match="warmup_tokens of pretrain: was 5000; allowed: less than the 2560 tokens"):
        replace(JOB, schedule=Schedule(warmup_tokens=5000, decay_epochs=5.0, min_lr_ratio=0.1))
