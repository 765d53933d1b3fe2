"""Which lengths are measured and which are left out."""

from collections.abc import Callable

import pytest

from stages.costing.measurement import Job, Measurement
from stages.costing.series import GIB, Series, measure_all
from stages.model.registry import settings_of
from tests.tiny import MODEL, SETTINGS

LIMITS = SETTINGS.cost.model_copy(update={"lengths": [64, 128, 256, 512, 1024], "longest_run": 10.0, "memory": 10.0})


def measurement(length: int, seconds: float, gib: float) -> Measurement:
    return Measurement(length, seconds / 3, 1, seconds, 1, 0.1, 1, int(gib * GIB))


def series(cost: Callable[[int], Measurement]) -> tuple[Series, list[Job]]:
    """The series of a variant that costs so, and what was asked to be measured."""
    asked: list[Job] = []

    def measure(job: Job) -> Measurement:
        asked.append(job)
        return cost(job.model.context)

    section = settings_of("vanilla", SETTINGS.variants, MODEL)
    return measure_all("vanilla", section, MODEL, SETTINGS.compute, LIMITS, measure), asked


def test_every_length_is_a_context_of_its_own_in_the_shape_asked_for() -> None:
    found, asked = series(lambda length: measurement(length, 1.0, 1.0))
    assert [each.length for each in found.measurements] == LIMITS.lengths
    assert found.left_out == {}
    assert [job.model.context for job in asked] == LIMITS.lengths
    assert {(job.model.layers, job.model.heads, job.model.width, job.model.dropout) for job in asked} == {
        (MODEL.layers, MODEL.heads, MODEL.width, 0.0)
    }


@pytest.mark.parametrize(
    ("seconds", "gib", "what"),
    [
        (lambda n: (n / 64) ** 2 / 2, lambda n: 0.1, "cost.longest_run"),
        (lambda n: 0.1, lambda n: (n / 64) ** 2 / 2, "GiB"),
    ],
)
def test_a_length_that_is_expected_to_exceed_a_limit_is_not_tried(
    seconds: Callable[[int], float], gib: Callable[[int], float], what: str
) -> None:
    found, asked = series(lambda length: measurement(length, seconds(length), gib(length)))
    assert [job.model.context for job in asked] == [64, 128, 256]  # 0.5, 2, 8; then 32
    assert list(found.left_out) == [512, 1024]
    assert all("about 32.0" in why and what in why for why in found.left_out.values())


def test_a_cost_that_grows_linearly_is_followed_further_than_a_quadratic_one() -> None:
    found, _ = series(lambda length: measurement(length, length / 128, 0.1))
    assert [each.length for each in found.measurements] == LIMITS.lengths  # 8 s at the end


@pytest.mark.parametrize(
    ("seconds", "foretold"),
    [({64: 2.4, 128: 4.0, 256: 7.0}, "14.0"), ({64: 0.1, 128: 0.8, 256: 6.4}, "25.6")],  # flatter, steeper
)
def test_twice_the_length_is_expected_to_cost_twice_to_four_times_as_much(
    seconds: dict[int, float], foretold: str
) -> None:
    found, _ = series(lambda length: measurement(length, seconds[length], 0.1))
    assert [each.length for each in found.measurements] == [*seconds]
    assert f"about {foretold} s" in found.left_out[512]


def test_a_length_that_settings_do_not_allow_is_left_out_and_the_next_one_is_tried() -> None:
    def cost(length: int) -> Measurement:
        if length < 256:
            raise ValueError("bottleneck: too long")
        return measurement(length, 1.0, 1.0)

    found, _ = series(cost)
    assert [each.length for each in found.measurements] == [256, 512, 1024]
    assert found.left_out == {64: "bottleneck: too long", 128: "bottleneck: too long"}


def test_after_a_killed_measurement_nothing_longer_is_tried() -> None:
    def cost(length: int) -> Measurement:
        if length == 256:
            raise MemoryError("killed")
        return measurement(length, 1.0, 1.0)

    found, asked = series(cost)
    assert [job.model.context for job in asked] == [64, 128, 256]
    assert found.left_out == dict.fromkeys([256, 512, 1024], "killed")
