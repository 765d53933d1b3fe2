"""Seconds of alternating runs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from tqdm import tqdm


@dataclass(frozen=True)
class Side:
    """One of the things compared."""

    work: Callable[[], object]  # returns when its result is there, on a GPU too
    warm_up: int  # runs before the first that is timed
    repeats: int  # timed runs a round


def alternate(sides: Mapping[str, Side], rounds: int, bar: "tqdm[NoReturn]") -> dict[str, list[float]]:
    """Run each side's repeats in turn, `rounds` times over; the seconds of each timed run, by side.

    The bar advances by one a round.
    """
    for side in sides.values():
        for _ in range(side.warm_up):
            side.work()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            for _ in range(side.repeats):
                started = time.perf_counter()
                side.work()
                seconds[name].append(time.perf_counter() - started)
        bar.update()
    return seconds
