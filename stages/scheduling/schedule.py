"""Which units of work are ready."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stages.scheduling.lock import cell_of, name_of
from stages.settings import Settings

SEEDED = ("pretrain", "finetune")  # stages that `--seed` divides


@dataclass(frozen=True)
class Unit:
    """A stage, or one seed of it."""

    stage: str  # as `dvc repro` names it
    seed: int | None = None

    @property
    def name(self) -> str:
        """The name that people read."""
        return name_of(self.stage) if self.seed is None else f"{name_of(self.stage)} seed {self.seed}"


class Schedule:
    """The units of all stages that are out of date: the seeds of a stage, then the stage, then those below it."""

    def __init__(self, upstream: Mapping[str, list[str]], stale: Collection[str], settings: Settings) -> None:
        """upstream: the stages directly above each; stale: those out of date by themselves."""
        below = set(stale)
        while more := {stage for stage, above in upstream.items() if stage not in below and below.intersection(above)}:
            below |= more
        self.upstream = upstream
        self.left = [unit for stage in upstream if stage in below for unit in units_of(stage, settings)]
        self.failed: list[Unit] = []

    def ready(self) -> list[Unit]:
        """List the units that can run: all above is done, and before a stage all its seeds."""
        unfinished = (*self.left, *self.failed)
        stages = {unit.stage for unit in unfinished}
        waiting_for_seeds = {Unit(unit.stage) for unit in unfinished if unit.seed is not None}
        return [
            unit for unit in self.left if stages.isdisjoint(self.upstream[unit.stage]) and unit not in waiting_for_seeds
        ]


def units_of(stage: str, settings: Settings) -> list[Unit]:
    """Divide a stage that trains several seeds into a unit for each, and the stage that publishes them."""
    kind, recipe, _ = cell_of(stage)
    seeds = settings.recipe_named(recipe).seeds if kind in SEEDED else []
    return [*(Unit(stage, seed) for seed in seeds if len(seeds) > 1), Unit(stage)]
