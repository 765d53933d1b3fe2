"""Units begin when all above them is done, and no earlier; seeds before their stage."""

import random
from graphlib import TopologicalSorter

import pytest

from stages.scheduling.graph import Unit, graph_of
from tests.support.tiny import SETTINGS

TRAIN = "pretrain@quick-min_gru"  # two seeds
UPSTREAM = {"check": [], "world": ["check"], TRAIN: ["world"], "b": ["world"], "end": [TRAIN, "b"]}


def new_graph() -> dict[Unit, list[Unit]]:
    recipe = SETTINGS.recipes["quick"].model_copy(update={"seeds": [1, 2]})
    settings = SETTINGS.model_copy(update={"recipes": SETTINGS.recipes | {"quick": recipe}})
    return graph_of(UPSTREAM, ["world"], settings)


@pytest.mark.parametrize("seed", range(20))
def test_in_whichever_order_units_end_each_runs_once_and_after_what_it_needs(seed: int) -> None:
    sorter, order, done = TopologicalSorter(new_graph()), random.Random(seed), ["check"]
    sorter.prepare()
    ready: list[Unit] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        for unit in ready:
            assert {*UPSTREAM[unit.stage]} <= {*done}
            assert unit != Unit(TRAIN) or {f"{TRAIN} seed 1", f"{TRAIN} seed 2"} <= {*done}
        unit = order.choice(ready)
        ready.remove(unit)
        sorter.done(unit)
        done.append(unit.name)
    assert sorted(done) == ["b", "check", "end", TRAIN, f"{TRAIN} seed 1", f"{TRAIN} seed 2", "world"]
