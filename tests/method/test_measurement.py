"""What is measured is there: products, memory of a known size, time that passes, a process that dies."""

import os
import signal
from dataclasses import replace
from typing import Any, Literal

import pytest

from stages.method import measurement
from stages.method.measurement import Cell, Measurement, count, measure, measure_apart, measure_lengths
from stages.model.cpu.kernels import identity
from stages.model.registry import settings_of
from stages.settings import Model
from tests.support.tiny import SETTINGS, VARIANTS

COMPUTE = SETTINGS.compute.model_copy(update={"device": "cpu", "precision": "float32"})


def cell(variant: str, length: int, layers: int = 2, width: int = 32, **settings: Any) -> Cell:
    model = Model(layers=layers, heads=4, width=width, context=length, dropout=0.0)
    sections = {variant: SETTINGS.variants[variant] | settings}
    return Cell(variant, settings_of(variant, sections, model), model, COMPUTE)


@pytest.mark.parametrize(("length", "m", "d", "layers"), [(64, 8, 32, 3), (512, 32, 64, 2), (256, 64, 32, 5)])
def test_the_report_s_formulas_of_attention_and_the_perceiver_are_those_of_the_code(
    length: int, m: int, d: int, layers: int
) -> None:
    attention = layers * (12 * length * d**2 + 2 * length**2 * d)
    assert count(cell("vanilla", length, layers, d)) == attention
    between = (layers - 1) * (12 * m * d**2 + 2 * m**2 * d)
    perceiver = 10 * length * d**2 + 2 * length * m * d + 2 * m * d**2 + between
    assert count(cell("perceiver", length, layers, d, bottleneck=m)) == perceiver


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_variant_can_be_measured(variant: str, precision: Literal["float32", "bfloat16"]) -> None:
    asked = cell(variant, 64)
    measured = measure(replace(asked, compute=asked.compute.model_copy(update={"precision": precision})))
    assert min(measured.training_seconds, measured.character_seconds, measured.multiply_adds, measured.state_bytes) > 0


def test_a_process_of_its_own_measures_the_memory_of_the_scores() -> None:
    measured = measure_apart(cell("random_synthesizer", 1024))
    scores = 4 * 1024**2 * 4  # bytes: heads, pairs, float32
    assert 4 * scores < measured.training_bytes < 6 * scores  # weights of two blocks, and the gradients of one's
    assert measured.state_bytes == 2 * (1024 * 32 * 4 + 8)  # blocks, values, and a length


@pytest.mark.skipif(identity() == "torch", reason="no C++ compiler here")
def test_compiled_attention_has_no_memory_of_the_scores() -> None:
    measured = measure_apart(cell("vanilla", 1024))
    assert measured.training_bytes < 4 * 1024**2 * 4 / 2
    assert measured.state_bytes == 2 * (2 * 1024 * 32 * 4 + 8)  # blocks, keys and values, and a length


def test_a_killed_process_is_told_as_a_lack_of_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measurement, "measure", _die)
    assert measure_lengths([cell("vanilla", 64)], 1.0) == []
    assert capsys.readouterr().out == "vanilla: 64 characters do not fit the memory\n"


@pytest.mark.parametrize(
    ("cost", "bottleneck", "measured"),
    [
        ({64: 0.5, 128: 1.5, 256: 0.5}, 64, [64, 128]),
        ({64: 0.5, 128: MemoryError("too small"), 256: 0.5}, 64, [64]),
        ({64: 0.5, 128: 0.1, 256: 0.2}, 100, [128, 256]),  # there are no more latents than positions
    ],
)
def test_the_lengths_that_are_measured(
    monkeypatch: pytest.MonkeyPatch, cost: dict[int, float | Exception], bottleneck: int, measured: list[int]
) -> None:
    def measure(cell: Cell) -> Measurement:
        seconds = cost[cell.model.context]
        if isinstance(seconds, Exception):
            raise seconds
        return Measurement(cell.model.context, 1, seconds, 1, 0.1, 1)

    monkeypatch.setattr(measurement, "measure_apart", measure)
    longest = cell("perceiver", max(cost), bottleneck=bottleneck)
    cells = [replace(longest, model=longest.model.model_copy(update={"context": length})) for length in cost]
    assert [measurement.length for measurement in measure_lengths(cells, 1.0)] == measured


def test_a_fault_of_a_mixer_is_none_of_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(_: Cell) -> Measurement:
        raise ValueError("a mixer's own")

    monkeypatch.setattr(measurement, "measure_apart", measure)
    with pytest.raises(ValueError, match="a mixer's own"):
        measure_lengths([cell("vanilla", 64)], 1.0)


def _die(_: Cell) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
