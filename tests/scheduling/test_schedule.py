"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random

import pytest
import yaml

from stages.scheduling.schedule import Schedule, Unit, seeds_of
from tests.support.tiny import SETTINGS

UPSTREAM = {"check": [], "world": ["check"], "a": ["world"], "b": ["world"], "end": ["a", "b"]}
SEEDS = {"a": [Unit("a", 1), Unit("a", 2)]}
PRETRAIN = "stages/dvc.yaml:pretrain@quick-min_gru"


def schedule() -> Schedule:
    return Schedule(UPSTREAM, ["world", "a", "b", "end"], {"check": "entry"}, SEEDS)


def entry(made: str, *read: str) -> str:
    """A lock entry; paths and hashes as path=hash."""

    def listed(*each: str) -> list[dict[str, str]]:
        return [{"path": pair.partition("=")[0], "md5": pair.partition("=")[2]} for pair in each]

    return str(yaml.safe_dump({"deps": listed("stages/code=1", *read), "outs": listed(made)}))


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


@pytest.mark.parametrize("changed", [False, True])
def test_what_reads_an_output_that_came_out_as_before_does_not_run_again(changed: bool) -> None:
    entries = {
        "check": entry("checked=1"),
        "world": entry("world=1", "checked=1"),
        "a": entry("a=1", "world=1"),
        "b": entry("b=1", "world=1"),
        "end": entry("end=1", "a=1", "b=1"),
    }
    each = Schedule(UPSTREAM, ["check"], entries, SEEDS)
    assert names(each.left) == ["check", "world", "a seed 1", "a seed 2", "a", "b", "end"]
    (check,) = each.take_ready()
    each.end(check, entry("checked=2" if changed else "checked=1"), 1.0)
    assert names(each.take_ready()) == (["world"] if changed else [])
    if changed:
        each.end(Unit("world"), entries["world"], 1.0)
        assert each.take_ready() == []
    assert each.entries.keys() == entries.keys() and each.left == []


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
