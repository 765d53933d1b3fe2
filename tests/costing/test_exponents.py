"""Fits against power laws that are known."""

import numpy as np
import pytest

from stages.costing.exponents import fitted, growth, upper_half
from stages.costing.formulas import FORMULAS, Cost, Shape, in_the_limit

LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096]


def test_the_upper_half_has_the_middle_in_it() -> None:
    assert upper_half(LENGTHS) == [512, 1024, 2048, 4096]
    assert upper_half([1, 2, 3, 4]) == [3, 4]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.7, 2.0])
def test_a_power_law_is_found_whatever_the_shorter_lengths_do(exponent: float) -> None:
    values = [5.0, 5.0, 5.0, *(3.0 * length**exponent for length in LENGTHS[3:])]
    found = fitted(LENGTHS, values)
    assert found is not None
    assert (found.slope, found.error) == (pytest.approx(exponent), pytest.approx(0, abs=1e-6))


def test_the_error_is_that_of_least_squares() -> None:
    x, noise = np.log([512, 1024, 2048, 4096]), np.array([0.1, -0.1, -0.1, 0.1])
    found = fitted(LENGTHS, [1.0] * 3 + list(np.exp(1.5 * x + noise)))
    assert found is not None
    centred = x - x.mean()
    residual = noise - noise.mean() - centred * (centred @ noise) / (centred @ centred)
    assert found.error == pytest.approx(np.sqrt(residual @ residual / 2 / (centred @ centred)))  # n − 2 = 2


@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0, 3.0, 0.0], [1.0, 1.0, 2.0, -1.0, 4.0]])
def test_a_fitted_point_that_is_not_above_zero_gives_no_exponent(values: list[float]) -> None:
    assert fitted(LENGTHS[: len(values)], values) is None
    assert fitted(LENGTHS[: len(values)], [abs(value) or 1.0 for value in values]) is not None


def test_too_few_points_give_no_exponent() -> None:
    assert fitted([64, 128], [1.0, 2.0]) is None


def test_growth_between_two_points() -> None:
    assert growth((64, 2.0), (128, 16.0)) == pytest.approx(3)


@pytest.mark.parametrize(
    ("variant", "settings", "operations", "memory", "by_rows"),
    [
        ("vanilla", {}, 2, 2, 1),
        ("rope", {}, 2, 2, 1),
        ("synthesizer", {}, 2, 2, 1),
        ("random_synthesizer", {}, 2, 2, 2),
        ("perceiver", {"bottleneck": 32}, 1, 1, 1),
        ("perceiver_ar", {"latents": 32}, 2, 2, 1),
        ("linear", {}, 1, 1, 1),
    ],
)
def test_exponents_in_the_limit(
    variant: str, settings: dict[str, int], operations: int, memory: int, by_rows: int
) -> None:
    def cost(length: int) -> Cost:
        return FORMULAS[variant].cost(Shape(length, 3, 4, 128), settings)

    assert in_the_limit(lambda length: cost(length).multiply_adds) == operations
    assert in_the_limit(lambda length: cost(length).kept + cost(length).scores) == memory
    assert in_the_limit(lambda length: cost(length).kept) == by_rows
