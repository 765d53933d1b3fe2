"""A study: a file that says what is asked, what is expected, and which trainings are to tell."""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import Field

from stages.settings.params import Settings
from stages.settings.section import LARGEST_SEED, Count, Name, Section, Seed, Some, check, read_yaml, written
from stages.system.errors import UserError
from stages.system.files import digest
from stages.trials.study.row import MEASURES, Cell, MeasureName, Row, read_rows

FOLDER = Path("stages/trials")  # of the files
DIGITS = 8  # of a digest of settings
VARIANTS = "variants"  # in a change: the only ones that it concerns
RECORD = "record"  # in a change: what was done; no code of today does it, and its rows are all that there is
TIMES = "times "  # before a number: so many times the value that another study chose
OF_PARAMS = ("sources.", "variants.")  # keys that are not the recipe's


class WaitsError(UserError):
    """A setting is chosen by another study, which lacks rows."""


class Choice(Section):
    """A setting whose value another study chooses for each variant."""

    key: str
    of: Name  # the study that sweeps the key
    by: MeasureName  # the value with the most of it is taken
    enough: float | None = None  # the value that reads the fewest characters among those with at least so much of it

    def best(self, tried: Mapping[Any, tuple[float, float]]) -> Any:
        """Return the value that is taken; tried: the mean of the measure, and of the characters read, by value."""
        enough = [value for value, (mean, _) in tried.items() if self.enough is not None and mean >= self.enough]
        if enough:
            return min(enough, key=lambda value: tried[value][1])
        return max(tried, key=lambda value: tried[value][0])


class Study(Section):
    """Everything that a study's file says."""

    question: str
    expected: str  # written before the first training
    found: str | None = None  # written after the last one
    recipe: Name
    variants: Some[Name]
    seeds: Some[Seed] = Field([1])
    worlds: Some[Seed] | None = None  # seeds of generated worlds in place of the recipe's own
    fresh_worlds: Count | None = None  # so many worlds, whose seeds are a hash of all settings: nobody chooses them
    goal: float | None = None  # the mean of the first measure is tested against it
    held_out: Count | None = None  # so many training questions are asked in place of dev's
    settings: dict[str, Any] = Field({})  # by dotted key, of all trainings, where no choice and no change has another
    choose: list[Choice] = Field([])
    changes: dict[Name, dict[str, Any]] = Field({"recipe": {}}, min_length=1)  # by dotted key; a list is swept
    measures: Some[MeasureName] = Field(["answered", "memorised"])
    note: str | None = None  # on rows that were not made by this file


class Plan:
    """A study with the settings that it changes: its cells, what each depends on, and the rows that are there."""

    def __init__(self, name: str, params: Settings) -> None:
        """Read the study's file. Raises UserError: there is none, or it is faulty."""
        self.name, self.params = name, params
        self.path = FOLDER / f"{name}.yaml"
        if not self.path.is_file():
            near = get_close_matches(name, studies(), 1)
            advice = f"did you mean '{near[0]}'?" if near else f"write it, or take one of: {', '.join(studies())}"
            raise UserError(f"there is no {self.path}; {advice}")
        self.study = check(Study, read_yaml(self.path), str(self.path))
        try:
            params.recipe_named(self.study.recipe)
            of_changes = {change: keys[VARIANTS] for change, keys in self.study.changes.items() if VARIANTS in keys}
            for change, named in of_changes.items():
                if not isinstance(named, list) or not named:
                    raise UserError(f"changes.{change}.{VARIANTS}: was {written(named)}; allowed: a list of names")
            for variant in chain(self.study.variants, *of_changes.values()):
                params.check_variant(variant)
        except UserError as error:
            raise UserError(f"{self.path}: {error}") from error

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells: one world and seed after the other, each with all variants and changes."""
        study = self.study
        cells: list[Cell] = []
        for number, seed in product(range(len(study.worlds or []) or study.fresh_worlds or 1), study.seeds):
            for change, keys in study.changes.items():
                for swept, variant in product(self._swept(change), keys.get(VARIANTS, study.variants)):
                    cell = Cell(change=change, swept=swept, variant=variant, seed=seed)
                    cells.append(cell.model_copy(update={"world": self._world(number, cell)}))
        return cells

    def _world(self, number: int, cell: Cell) -> str:
        """Return the seed of a cell's world; empty for the recipe's own data."""
        if self.study.worlds:
            return str(self.study.worlds[number])
        if self.study.fresh_worlds:
            return str(int(digest([self.digest(cell), number])[:DIGITS], 16) % LARGEST_SEED)
        return ""

    def _swept(self, change: str) -> Iterator[str]:
        """Yield each combination of the values that lists of a change name, as JSON."""
        keys = self.study.changes[change]
        lists = {key: value for key, value in keys.items() if isinstance(value, list) and key != VARIANTS}
        for values in product(*lists.values()):
            yield json.dumps(dict(zip(lists, values, strict=True))) if lists else ""

    def params_of(self, cell: Cell) -> Settings:
        """Return the settings of a cell. Raises UserError: they are impossible, or wait for another study."""
        study = self.study
        keys = study.changes[cell.change]
        fixed = {key: value for key, value in keys.items() if not isinstance(value, list) and key != RECORD}
        chosen = {choice.key: self._chosen(choice, cell) for choice in study.choose}
        where = f"{self.path}, change {cell.change}"
        for key in chosen.keys() & fixed.keys():
            if isinstance(fixed[key], str) and fixed[key].startswith(TIMES):
                try:
                    times = float(fixed[key].removeprefix(TIMES))
                    fixed[key] = type(chosen[key])(chosen[key] * times)  # a count or a rate
                except (ValueError, OverflowError) as error:
                    raise UserError(f"{where}: {key}: was '{fixed[key]}'; allowed: `times` and a number") from error
        change = study.settings | chosen | fixed | cell.values
        own: dict[str, tuple[str, Any]] = {"seeds": ("seeds", [cell.seed])}
        if cell.world:
            worlds = "worlds" if study.worlds else "fresh_worlds"
            own["sources.synthetic.seed"] = (worlds, int(cell.world))
        if self.params.recipe_named(study.recipe).data.source == "pairs":
            own["sources.pairs.seed"] = ("seeds", cell.seed)
        if study.held_out:
            own["data.held_out"] = ("held_out", study.held_out)
        for key in own.keys() & change.keys():
            raise UserError(f"{where}: {key}: key `{own[key][0]}` of the study says it; remove this one")
        decided = {key: value for key, (_, value) in own.items()}
        placed = {
            key if key.startswith(OF_PARAMS) else f"recipes.{study.recipe}.{key}": value
            for key, value in (change | decided).items()
        }
        return self.params.changed(placed, where)

    @cached_property
    def others(self) -> dict[str, "Plan"]:
        """The studies that choose a setting of this one, by name."""
        return {choice.of: Plan(choice.of, self.params) for choice in self.study.choose}

    def _chosen(self, choice: Choice, cell: Cell) -> Any:
        """Return the value that another study chose for a cell. Raises UserError: it has not ended."""
        if choice.key not in self.other_keys(choice):
            raise UserError(f"{self.path}: choose: study {choice.of} sweeps no {choice.key}; give it a list of values")
        tried = self.others[choice.of].tried(choice, cell)
        if not tried:
            what = f"choose.{choice.key} waits for study {choice.of}"
            raise WaitsError(f"{self.path}: {what}; run: python -m stages.trials {choice.of}")
        return choice.best(tried)

    def tried(self, choice: Choice, wanted: Cell) -> dict[Any, tuple[float, float]]:
        """Return the mean of a measure, and of the characters read, by value of a key; empty while a row is missing.

        A cell counts if it has the variant and, where both studies have them, the change and the other swept values of
        the cell that waits.
        """
        of_value: dict[Any, list[Row]] = {}
        for cell in self.cells:
            is_alike = cell.change == wanted.change or wanted.change not in self.study.changes
            is_alike &= all(cell.values.get(key, value) == value for key, value in wanted.values.items())
            if is_alike and cell.variant == wanted.variant and choice.key in cell.values:
                if cell not in self.rows:
                    return {}
                of_value.setdefault(cell.values[choice.key], []).append(self.rows[cell])
        measure = MEASURES[choice.by].value
        return {
            value: (fmean(map(measure, rows)), fmean(row.characters for row in rows))
            for value, rows in of_value.items()
        }

    def digest(self, cell: Cell) -> str:
        """Return the digest of what a cell's result depends on but for code and machine."""
        params = self.params_of(cell)
        recipe = params.recipe_named(self.study.recipe)
        source = recipe.data.source
        sources = [getattr(params.sources, source), *([params.sources.synthetic] if source == "text" else [])]
        # a setting that is added later changes no digest while it has its default
        sections = recipe.model_dump(exclude={"seeds", "report", "baseline"}, exclude_defaults=True)
        of_sources = [section.model_dump(exclude_defaults=True) for section in sources]
        return digest([sections, params.variants[cell.variant], of_sources, cell.seed])[:DIGITS]

    @cached_property
    def rows(self) -> dict[Cell, Row]:
        """The latest row of each cell that has one, whatever settings it was made with."""
        latest = {Cell(**row.model_dump(include={*Cell.model_fields})): row for row in read_rows(self.name)}
        return {cell: latest[cell] for cell in self.cells if cell in latest}

    def is_of_today(self, cell: Cell) -> bool:
        """Whether a cell has a row that was made with the settings that it has now."""
        return cell in self.rows and self.rows[cell].settings == self.digest(cell)

    def other_keys(self, choice: Choice) -> set[str]:
        """Return the keys that the study of a choice sweeps."""
        return {key for cell in self.others[choice.of].cells for key in cell.values}

    def missing(self, again: bool = False) -> list[Cell]:
        """List the cells without a row, but for those of a record; again: without a row of today's settings."""
        trainable = (cell for cell in self.cells if RECORD not in self.study.changes[cell.change])
        return [cell for cell in trainable if not (self.is_of_today(cell) if again else cell in self.rows)]

    def choices(self) -> Iterator[tuple[Choice, Cell, Any, bool]]:
        """Yield each choice for a cell of the first seed and world, and whether it lies at an end of what was tried."""
        first = self.cells[0]
        cells = [cell for cell in self.cells if (cell.seed, cell.world) == (first.seed, first.world)]
        for choice, cell in product(self.study.choose, cells):
            if tried := self.others[choice.of].tried(choice, cell):
                value = choice.best(tried)
                yield choice, cell, value, value in (min(tried), max(tried))


def studies() -> list[str]:
    """List the studies that have a file."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "dvc")
