"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random

import pytest
import yaml

from stages.scheduling.schedule import Schedule, Unit, seeds_of
from tests.support.tiny import SETTINGS

UPSTREAM = {"check": [], "world": ["check"], "a": ["world"], "b": ["world"], "end": ["a", "b"]}
SEEDS = {"a": [Unit("a", 1), Unit("a", 2)]}
PRETRAIN = "stages/dvc.yaml:pretrain@quick-min_gru"


def new_schedule() -> Schedule:
    return Schedule(UPSTREAM, ["world", "a", "b", "end"], {"check": "entry"}, SEEDS)


def entry(made: str, *read: str) -> str:
    """A lock entry; paths and hashes as path=hash."""

    def listed(*pairs: str) -> list[dict[str, str]]:
        return [{"path": pair.partition("=")[0], "md5": pair.partition("=")[2]} for pair in pairs]

    return str(yaml.safe_dump({"deps": listed("stages/code=1", *read), "outs": listed(made)}))


def names(units: list[Unit]) -> list[str]:
    return [unit.name for unit in units]


@pytest.mark.parametrize("seed", range(20))
def test_in_whichever_order_units_end_each_runs_once_and_after_what_it_needs(seed: int) -> None:
    schedule, order, done = new_schedule(), random.Random(seed), ["check"]
    while running := (schedule.take_ready() and schedule.running) or schedule.running:
        for unit in running:
            assert {*UPSTREAM[unit.stage]} <= {*done}
            assert unit.seed is not None or all(seed.name in done for seed in SEEDS.get(unit.stage, []))
        unit = order.choice(running)
        schedule.end(unit, "entry", 1.0)
        done.append(unit.name)
    assert sorted(done) == ["a", "a seed 1", "a seed 2", "b", "check", "end", "world"]
    assert schedule.left == []


def test_below_a_failed_seed_nothing_runs_but_its_sisters_and_others_do() -> None:
    schedule = new_schedule()
    (world,) = schedule.take_ready()
    schedule.end(world, "entry", 1.0)
    ready = schedule.take_ready()
    assert names(ready) == ["a seed 1", "a seed 2", "b"]
    schedule.fail(ready[0])
    schedule.end(ready[1], "", 1.0)
    schedule.end(ready[2], "entry", 1.0)
    assert schedule.take_ready() == []
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
    (check,) = schedule.take_ready()
    schedule.end(check, entry("checked=2" if changed else "checked=1"), 1.0)
    assert names(schedule.take_ready()) == (["world"] if changed else [])
    if changed:
        schedule.end(Unit("world"), entries["world"], 1.0)
        assert schedule.take_ready() == []
    assert schedule.entries.keys() == entries.keys() and schedule.left == []


def test_the_time_left_is_that_of_known_kinds_over_the_workers() -> None:
    schedule = Schedule({"x@1": [], "x@2": [], "x@3": [], "y": []}, ["x@1", "x@2", "x@3", "y"], {}, {})
    first, second, *_ = schedule.take_ready()
    assert schedule.seconds_left(2) == (0.0, True)
    schedule.end(first, "entry", 10.0)
    schedule.end(second, "entry", 30.0)
    assert schedule.seconds_left(2) == (10.0, True)  # one more x of 20 seconds for two workers; y is unknown


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
