"""Which units of work are ready."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stages.scheduling.lock import Entry, name_of, reads_the_same
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
    """The units of all stages to do: the seeds of a stage come first, then the stage, then those below it."""

    def __init__(
        self,
        upstream: Mapping[str, list[str]],
        stale: Collection[str],
        entries: Mapping[str, Entry],
        seeds: Mapping[str, list[Unit]],
    ) -> None:
        """upstream: the stages directly above each; stale: those out of date by themselves; entries: in the lock."""
        below = set(stale)
        while more := {stage for stage, above in upstream.items() if stage not in below and below.intersection(above)}:
            below |= more
        self.upstream = upstream
        self.done = {stage: entry for stage, entry in entries.items() if stage not in below}
        self.left = [unit for stage in upstream if stage in below for unit in (*seeds.get(stage, []), Unit(stage))]
        self.failed: list[Unit] = []
        self._before = {stage: entries[stage] for stage in below if stage in entries and stage not in stale}

    def ready(self) -> list[Unit]:
        """List the units that can run: all above is done, and before a stage all its seeds."""
        waits_for_seeds = {unit.stage for unit in (*self.left, *self.failed) if unit.seed is not None}
        return [
            unit
            for unit in self.left
            if self._is_ready(unit.stage) and (unit.seed is not None or unit.stage not in waits_for_seeds)
        ]

    def end(self, unit: Unit, entry: Entry) -> None:
        """Note that a unit came to its end; entry: of its stage, in the lock; a seed's says nothing."""
        self.left.remove(unit)
        if unit.seed is None:
            self.done[unit.stage] = entry
        while same := [stage for stage in self._before if self._is_ready(stage) and self._is_unchanged(stage)]:
            for stage in same:  # what lies above it was done anew and came out as before
                self.done[stage] = self._before.pop(stage)
            self.left = [unit for unit in self.left if unit.stage not in same]

    def fail(self, unit: Unit) -> None:
        """Note that a unit failed: what is below it will not run."""
        self.left.remove(unit)
        self.failed.append(unit)

    def _is_ready(self, stage: str) -> bool:
        return all(above in self.done for above in self.upstream[stage])

    def _is_unchanged(self, stage: str) -> bool:
        return reads_the_same(self._before[stage], [self.done[above] for above in self.upstream[stage]])


def seeds_of(stage: str, settings: Settings) -> list[Unit]:
    """List the seeds of a stage that trains several, each a unit of its own."""
    kind, _, cell = name_of(stage).partition("@")
    if kind not in SEEDED:
        return []
    seeds = settings.recipe_named(cell.partition("-")[0]).seeds
    return [Unit(stage, seed) for seed in seeds] if len(seeds) > 1 else []
