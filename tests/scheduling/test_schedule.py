"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random

import pytest

from stages.scheduling.run import duration
from stages.scheduling.schedule import Schedule, Unit, seeds_of
from tests.tiny import SETTINGS

UPSTREAM = {"check": [], "world": ["check"], "a": ["world"], "b": ["world"], "end": ["a", "b"]}
SEEDS = {"a": [Unit("a", 1), Unit("a", 2)]}
PRETRAIN = "stages/dvc.yaml:pretrain@quick-min_gru"


def schedule() -> Schedule:
    return Schedule(UPSTREAM, ["world", "a", "b", "end"], {"check": "entry"}, SEEDS)


def names(units: list[Unit]) -> list[str]:
    return [unit.name for unit in units]


@pytest.mark.parametrize("seed", range(20))
def test_in_whichever_order_units_end_each_runs_once_and_after_what_it_needs(seed: int) -> None:
    each, order, done = schedule(), random.Random(seed), ["check"]
    while running := (each.take_ready() and each.running) or each.running:
        for unit in running:
            assert {*UPSTREAM[unit.stage]} <= {*done}
            assert unit.seed is not None or all(seed.name in done for seed in SEEDS.get(unit.stage, []))
        unit = order.choice(running)
        each.end(unit, "entry", 1.0)
        done.append(unit.name)
    assert sorted(done) == ["a", "a seed 1", "a seed 2", "b", "check", "end", "world"]
    assert each.left == []


def test_below_a_failed_seed_nothing_runs_but_its_sisters_and_others_do() -> None:
    each = schedule()
    (world,) = each.take_ready()
    each.end(world, "entry", 1.0)
    ready = each.take_ready()
    assert names(ready) == ["a seed 1", "a seed 2", "b"]
    each.fail(ready[0])
    each.end(ready[1], "", 1.0)
    each.end(ready[2], "entry", 1.0)
    assert each.take_ready() == []
    assert (names(each.failed), names(each.left)) == (["a seed 1"], ["a", "end"])


def test_the_time_left_is_that_of_known_kinds_over_the_workers() -> None:
    each = Schedule({"x@1": [], "x@2": [], "x@3": [], "y": []}, ["x@1", "x@2", "x@3", "y"], {}, {})
    first, second, *_ = each.take_ready()
    assert each.seconds_left(2) == (0.0, True)
    each.end(first, "entry", 10.0)
    each.end(second, "entry", 30.0)
    assert each.seconds_left(2) == (10.0, True)  # one more x of 20 seconds for two workers; y is unknown


def test_a_stage_that_trains_has_a_unit_a_seed_and_others_have_none() -> None:
    units = seeds_of(PRETRAIN, SETTINGS)
    assert [unit.seed for unit in units] == SETTINGS.recipes["quick"].seeds
    assert units[0].name == "pretrain@quick-min_gru seed 1" and units[0].kind == "pretrain seed" and units[0].trains
    assert units[0].command == (
        *("python", "-m", "stages.pretrain", "--recipe", "quick", "--variant", "min_gru"),
        *("--seed", "1"),
    )
    assert seeds_of("stages/dvc.yaml:evaluate@quick-min_gru", SETTINGS) == []
    one = SETTINGS.model_copy(
        update={"recipes": {"quick": SETTINGS.recipes["quick"].model_copy(update={"seeds": [7]})}}
    )
    assert seeds_of(PRETRAIN, one) == []


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (75, "1 min 15 s"), (7260, "2 h 1 min")]
)
def test_durations_are_said_in_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words
