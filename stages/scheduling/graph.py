"""Units of work, and which of them end before which."""

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


def graph_of(upstream: Mapping[str, list[str]], stale: Collection[str], settings: Settings) -> dict[Unit, list[Unit]]:
    """Return the units of all stages that are out of date, each with the units that end before it begins.

    upstream: the stages directly above each; stale: those out of date by themselves.
    """
    below = set(stale)
    while more := {stage for stage, above in upstream.items() if stage not in below and below.intersection(above)}:
        below |= more
    graph: dict[Unit, list[Unit]] = {}
    for stage in filter(below.__contains__, upstream):
        above = [Unit(other) for other in upstream[stage] if other in below]
        *seeds, whole = units_of(stage, settings)
        graph |= dict.fromkeys(seeds, above) | {whole: [*above, *seeds]}
    return graph


def units_of(stage: str, settings: Settings) -> list[Unit]:
    """Divide a stage that trains several seeds into a unit for each, and the stage that publishes them."""
    kind, recipe, _ = cell_of(stage)
    seeds = settings.recipe_named(recipe).seeds if kind in SEEDED else []
    return [*(Unit(stage, seed) for seed in seeds if len(seeds) > 1), Unit(stage)]
