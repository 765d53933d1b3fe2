"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random

import pytest

from stages.scheduling.lock import Entry
from stages.scheduling.schedule import Schedule, Unit, seeds_of
from tests.support.tiny import SETTINGS

UPSTREAM = {"check": [], "world": ["check"], "a": ["world"], "b": ["world"], "end": ["a", "b"]}
SEEDS = {"a": [Unit("a", 1), Unit("a", 2)]}


def new_schedule() -> Schedule:
    return Schedule(UPSTREAM, ["world", "a", "b", "end"], {"check": {}}, SEEDS)


def entry(made: str, *read: str) -> Entry:
    """A lock entry; paths and hashes as path=hash."""

    def listed(*pairs: str) -> list[dict[str, str]]:
        return [{"path": pair.partition("=")[0], "md5": pair.partition("=")[2]} for pair in pairs]

    return {"deps": listed("stages/code=1", *read), "outs": listed(made)}


def names(units: list[Unit]) -> list[str]:
    return [unit.name for unit in units]


@pytest.mark.parametrize("seed", range(20))
def test_in_whichever_order_units_end_each_runs_once_and_after_what_it_needs(seed: int) -> None:
    schedule, order, done = new_schedule(), random.Random(seed), ["check"]
    while ready := schedule.ready():
        for unit in ready:
            assert {*UPSTREAM[unit.stage]} <= {*done}
            assert unit.seed is not None or all(seed.name in done for seed in SEEDS.get(unit.stage, []))
        unit = order.choice(ready)
        schedule.end(unit, {})
        done.append(unit.name)
    assert sorted(done) == ["a", "a seed 1", "a seed 2", "b", "check", "end", "world"]
    assert schedule.left == []


def test_below_a_failed_seed_nothing_runs_but_its_sisters_and_others_do() -> None:
    schedule = new_schedule()
    schedule.end(Unit("world"), {})
    ready = schedule.ready()
    assert names(ready) == ["a seed 1", "a seed 2", "b"]
    schedule.fail(ready[0])
    schedule.end(ready[1], {})
    schedule.end(ready[2], {})
    assert schedule.ready() == []
    assert (names(schedule.failed), names(schedule.left)) == (["a seed 1"], ["a", "end"])


@pytest.mark.parametrize("changed", [False, True])
def test_what_reads_an_output_that_came_out_as_before_does_not_run_again(changed: bool) -> None:
    entries = {
        "check": entry("checked=1"),
        "world": entry("world=1", "checked=1"),
        "a": entry("a=1", "world=1"),
        "b": entry("b=1", "world=1"),
        "end": entry("end=1", "a=1", "b=1"),
    }
    schedule = Schedule(UPSTREAM, ["check"], entries, SEEDS)
    assert names(schedule.left) == ["check", "world", "a seed 1", "a seed 2", "a", "b", "end"]
    schedule.end(Unit("check"), entry("checked=2" if changed else "checked=1"))
    assert names(schedule.ready()) == (["world"] if changed else [])
    if changed:
        schedule.end(Unit("world"), entries["world"])
    assert schedule.done.keys() == entries.keys() and schedule.left == []


def test_a_stage_that_trains_has_a_unit_a_seed_and_others_have_none() -> None:
    seeds = SETTINGS.recipes["quick"].seeds
    assert seeds_of("stages/dvc.yaml:pretrain@quick-min_gru", SETTINGS) == [
        Unit("stages/dvc.yaml:pretrain@quick-min_gru", seed) for seed in seeds
    ]
    assert seeds_of("stages/dvc.yaml:evaluate@quick-min_gru", SETTINGS) == []
