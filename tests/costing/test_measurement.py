"""What is measured is there: memory of a known size, time that passes, a process that dies."""

import os
import signal
import time
from dataclasses import replace
from typing import Literal

import pytest
import torch

from stages.costing import measurement
from stages.costing.measurement import Job, measure, measure_apart
from stages.costing.memory import Meter
from stages.model.cpu.kernels import identity
from stages.model.registry import settings_of
from stages.settings import Model
from tests.tiny import FLOAT32, SETTINGS, VARIANTS

COMPUTE = SETTINGS.compute.model_copy(update={"device": "cpu", "precision": "float32"})
LIMITS = SETTINGS.cost.model_copy(update={"repeats": 2, "seconds": 0.05, "characters": 3})
MB = 1_000_000
LONG = 120  # seconds


def job(variant: str, length: int) -> Job:
    model = Model(layers=2, heads=4, width=32, context=length, dropout=0.0)
    return Job(variant, settings_of(variant, SETTINGS.variants, model), model, COMPUTE, LIMITS)


def test_the_meter_sees_memory_that_comes_and_goes() -> None:
    meter = Meter(torch.device("cpu"))
    before = meter.restart()
    torch.ones(50 * MB // 4)  # given back at once
    assert meter.peak() - before == pytest.approx(50 * MB, abs=3 * MB)
    if os.path.exists("/proc/self/clear_refs"):
        assert meter.restart() - before < 5 * MB


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_variant_can_be_measured(variant: str, precision: Literal["float32", "bfloat16"]) -> None:
    asked = job(variant, 64)
    found = measure(replace(asked, compute=asked.compute.model_copy(update={"precision": precision})))
    assert found.length == 64
    assert min(found.forward_seconds, found.training_seconds, found.character_seconds) > 0
    assert found.training_bytes >= 0
    assert found.state_bytes > 0


def test_a_process_of_its_own_measures_the_memory_of_the_scores() -> None:
    found = measure_apart(job("random_synthesizer", 1024))
    scores = 4 * 1024**2 * 4  # bytes: heads, pairs, float32
    assert scores < found.forward_bytes < 3 * scores  # one block at a time
    assert 4 * scores < found.training_bytes < 6 * scores  # weights of two blocks, and the gradients of one's
    assert found.training_bytes < found.total_bytes
    assert found.training_seconds > found.forward_seconds
    assert found.state_bytes == 2 * (1024 * 32 * 4 + 8)  # blocks, values, and a length


@pytest.mark.skipif(identity() == "torch", reason="no C++ compiler here")
def test_attention_from_row_to_row_has_no_memory_of_the_scores() -> None:
    found = measure_apart(job("vanilla", 1024))
    scores = 4 * 1024**2 * 4  # bytes
    assert found.forward_bytes < found.training_bytes < scores / 2
    assert found.state_bytes == 2 * (2 * 1024 * 32 * 4 + 8)  # blocks, keys and values, and a length


def test_a_killed_process_is_told_as_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "measure", _die)
    with pytest.raises(MemoryError, match="64 characters was killed"):
        measure_apart(job("vanilla", 64))


def test_a_stop_does_not_wait_for_the_process_that_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "measure", _sleep)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            measure_apart(job("vanilla", 64))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started < LONG / 2


def test_a_length_that_memory_refuses_is_told_as_a_lack_of_it() -> None:
    with pytest.raises(MemoryError, match=r"268435456 characters do not fit the memory\Z"):
        measure(job("random_synthesizer", 2**28))  # scores of some 10^17 numbers


def test_settings_that_do_not_fit_come_back_as_they_are() -> None:
    wanted = settings_of("rope", SETTINGS.variants, SETTINGS.recipes["quick"].model)
    odd = Model(layers=2, heads=4, width=12, context=64, dropout=0.0)
    with pytest.raises(ValueError, match="even head size"):
        measure_apart(replace(job("rope", 64), settings=wanted, model=odd))


def test_seconds_are_a_median_and_end_at_the_limit() -> None:
    waits = iter([0.001, 0.03, 0.001, 0.001])
    limits = LIMITS.model_copy(update={"repeats": 3, "seconds": 10.0})
    assert 0.001 <= measurement._timed(lambda: time.sleep(next(waits)), FLOAT32, limits) < 0.02
    runs: list[None] = []
    slow = LIMITS.model_copy(update={"repeats": 100, "seconds": 0.02})
    measurement._timed(lambda: (runs.append(None), time.sleep(0.015)), FLOAT32, slow)
    assert len(runs) == 2


def _die(_: Job) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _sleep(job: Job) -> None:
    time.sleep(LONG)
