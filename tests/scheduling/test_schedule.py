"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random

import pytest

from stages.scheduling.schedule import Schedule, Unit
from tests.support.tiny import SETTINGS

TRAIN = "pretrain@quick-min_gru"  # two seeds
UPSTREAM = {"check": [], "world": ["check"], TRAIN: ["world"], "b": ["world"], "end": [TRAIN, "b"]}


def new_schedule() -> Schedule:
    recipe = SETTINGS.recipes["quick"].model_copy(update={"seeds": [1, 2]})
    return Schedule(UPSTREAM, ["world"], SETTINGS.model_copy(update={"recipes": SETTINGS.recipes | {"quick": recipe}}))


def names(units: list[Unit]) -> list[str]:
    return [unit.name for unit in units]


@pytest.mark.parametrize("seed", range(20))
def test_in_whichever_order_units_end_each_runs_once_and_after_what_it_needs(seed: int) -> None:
    schedule, order, done = new_schedule(), random.Random(seed), ["check"]
    while ready := schedule.ready():
        for unit in ready:
            assert {*UPSTREAM[unit.stage]} <= {*done}
            assert unit != Unit(TRAIN) or {f"{TRAIN} seed 1", f"{TRAIN} seed 2"} <= {*done}
        unit = order.choice(ready)
        schedule.left.remove(unit)
        done.append(unit.name)
    assert sorted(done) == ["b", "check", "end", TRAIN, f"{TRAIN} seed 1", f"{TRAIN} seed 2", "world"]


def test_below_a_failed_seed_nothing_runs_but_its_sisters_and_others_do() -> None:
    schedule = new_schedule()
    schedule.left.remove(Unit("world"))
    ready = schedule.ready()
    assert names(ready) == [f"{TRAIN} seed 1", f"{TRAIN} seed 2", "b"]
    schedule.failed.append(ready[0])
    for unit in ready:
        schedule.left.remove(unit)
    assert schedule.ready() == []
    assert (names(schedule.failed), names(schedule.left)) == ([f"{TRAIN} seed 1"], [TRAIN, "end"])
