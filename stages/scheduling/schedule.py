"""Which units of work are ready, and how long the rest will take."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import mean

from stages.scheduling.lock import name_of, reads_the_same
from stages.settings import Settings

TRAINING = ("pretrain", "finetune", "ablate", "grid")  # stages that train
SEEDED = ("pretrain", "finetune")  # those that `--seed` divides


@dataclass(frozen=True)
class Unit:
    """A stage, or one seed of it."""

    stage: str  # as `dvc repro` names it
    seed: int | None = None
    command: tuple[str, ...] | None = None  # that trains the seed

    @property
    def name(self) -> str:
        """The name that people read."""
        return name_of(self.stage) if self.seed is None else f"{name_of(self.stage)} seed {self.seed}"

    @property
    def kind(self) -> str:
        """Units of one kind take about as long."""
        kind = name_of(self.stage).partition("@")[0]
        return kind if self.seed is None else f"{kind} seed"

    @property
    def trains(self) -> bool:
        """Whether it is for a GPU."""
        return name_of(self.stage).partition("@")[0] in TRAINING


class Schedule:
    """The units of all stages to do: the seeds of a stage come first, then the stage, then those below it."""

    def __init__(
        self,
        upstream: Mapping[str, list[str]],
        stale: Collection[str],
        entries: Mapping[str, str],
        seeds: Mapping[str, list[Unit]],
    ) -> None:
        """upstream: the stages directly above each; stale: those out of date by themselves; entries: in the lock."""
        below = set(stale)
        while more := {stage for stage, above in upstream.items() if stage not in below and below.intersection(above)}:
            below |= more
        self.upstream = upstream
        self.entries = {stage: entry for stage, entry in entries.items() if stage not in below}  # done
        self.failed: list[Unit] = []
        self.running: list[Unit] = []
        self._before = {stage: entries[stage] for stage in below if stage in entries and stage not in stale}
        self._waiting = [unit for stage in upstream if stage in below for unit in (*seeds.get(stage, []), Unit(stage))]
        self._seconds: dict[str, list[float]] = defaultdict(list)

    @property
    def left(self) -> list[Unit]:
        """Units that are not done, those that run among them."""
        return [*self.running, *self._waiting]

    def take_ready(self) -> list[Unit]:
        """Take the units that can begin now; they count as running from now on."""
        while same := [stage for stage in self._before if self._is_ready(stage) and self._is_unchanged(stage)]:
            for stage in same:  # what lies above it was done anew and came out as before
                self.entries[stage] = self._before.pop(stage)
            self._waiting = [unit for unit in self._waiting if unit.stage not in same]
        wait_for_seeds = {unit.stage for unit in (*self.left, *self.failed) if unit.seed is not None}
        can_begin = [unit for unit in self._waiting if unit.seed is not None or unit.stage not in wait_for_seeds]
        ready = [unit for unit in can_begin if self._is_ready(unit.stage)]
        self._waiting = [unit for unit in self._waiting if unit not in ready]
        self.running += ready
        return sorted(ready, key=lambda unit: not unit.trains)  # the long ones first

    def _is_ready(self, stage: str) -> bool:
        return all(above in self.entries for above in self.upstream[stage])

    def _is_unchanged(self, stage: str) -> bool:
        return reads_the_same(self._before[stage], [self.entries[above] for above in self.upstream[stage]])

    def end(self, unit: Unit, entry: str, seconds: float) -> None:
        """Note that a unit came to its end; entry: of a stage, in the lock."""
        self.running.remove(unit)
        self._seconds[unit.kind].append(seconds)
        if unit.seed is None:
            self.entries[unit.stage] = entry

    def fail(self, unit: Unit) -> None:
        """Note that a unit failed: what is below it will not run."""
        self.running.remove(unit)
        self.failed.append(unit)

    def seconds_left(self, workers: int) -> tuple[float, bool]:
        """Estimate how long the rest takes, and say whether kinds that were not seen yet are left out."""
        known = [unit for unit in self.left if unit.kind in self._seconds]
        return sum(mean(self._seconds[unit.kind]) for unit in known) / max(workers, 1), len(known) < len(self.left)


def seeds_of(stage: str, settings: Settings) -> list[Unit]:
    """List the seeds of a stage that trains several, each a unit of its own."""
    kind, _, cell = name_of(stage).partition("@")
    if kind not in SEEDED:
        return []
    recipe, _, variant = cell.partition("-")  # neither name has one
    seeds = settings.recipe_named(recipe).seeds
    command = ("python", "-m", f"stages.{kind}", "--recipe", recipe, "--variant", variant, "--seed")
    return [Unit(stage, seed, (*command, str(seed))) for seed in seeds] if len(seeds) > 1 else []
