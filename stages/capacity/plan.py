"""Which cells the study trains, in which order, and how long that takes."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from statistics import median

from stages.capacity.row import BITS_OF_A_PLACE, Cell, Row, digest
from stages.settings import PARAMS, Settings
from stages.settings.measured import RATES, Rates
from stages.system.errors import StudyError

ROWS = Path("reports/capacity/rows.csv")  # in git, so that the page can be made of them
CHOICE_SEED = 0  # of the world on which rates are chosen
STEP_SECONDS = 0.012  # where no row tells: of width 32, one core with AVX512-BF16
BEST: Rates = {"muon": [0.0]}  # of a part without rates: to be chosen


class Plan:
    """The cells of the study's parts, given the rows that are there."""

    def __init__(self, settings: Settings, rows: Iterable[Row]) -> None:
        self.section = settings.capacity
        self.variants = [*settings.variants]
        self.digests = {variant: digest(settings, variant) for variant in settings.variants}
        todays = (row for row in rows if row.settings == self.digests.get(row.variant))
        self.rows = {Cell(**row.model_dump()): row for row in todays}

    def missing(self, part: str) -> list[Cell]:
        """List the cells that are to be trained next: where a rate is not chosen yet, those that choose it."""
        return [cell for cell in dict.fromkeys(self._cells(part)) if cell not in self.rows]

    def cells(self, part: str) -> list[Cell]:
        """List the cells of a part that have rows."""
        return [cell for cell in dict.fromkeys(self._cells(part)) if cell in self.rows and cell.seed != CHOICE_SEED]

    def left(self, part: str) -> list[Cell]:
        """List all cells without a row, those that wait for a rate among them."""
        waiting = [cell for cell in self._asked(part) if not cell.learning_rate and self.best_rate(cell) is None]
        return [*self.missing(part), *waiting]

    def seconds(self, cells: Iterable[Cell]) -> float:
        """Estimate how long cells take, from the steps of their variant's rows."""
        return sum(self._steps(cell) * self._step_seconds(cell) for cell in cells)

    def tried(self, cell: Cell) -> dict[float, Row]:
        """Return the rows among which the rate of a cell is chosen, by rate."""
        choices = {rate: as_choice(cell, rate) for rate in RATES}
        return {rate: self.rows[choice] for rate, choice in choices.items() if choice in self.rows}

    def best_rate(self, cell: Cell) -> float | None:
        """Return the rate with the most bits; None where it has no neighbours yet."""
        return None if self._untried(cell) else _best(self.tried(cell))

    def _untried(self, cell: Cell) -> list[Cell]:
        """Return the trainings that the choice of a rate still waits for."""
        wanted = self.section.rates[cell.matrices]
        tried = self.tried(cell)
        if tried.keys() >= {*wanted}:
            best = RATES.index(_best(tried))
            wanted = RATES[max(0, best - 1) : best + 2]
        return [as_choice(cell, rate) for rate in wanted if rate not in tried]

    def _cells(self, part: str) -> Iterator[Cell]:
        """Yield a part's cells; in place of those without a rate what chooses it."""
        for cell in self._asked(part):
            rate = cell.learning_rate or self.best_rate(cell)
            if rate is None:
                yield from self._untried(cell)
            else:
                yield cell.model_copy(update={"learning_rate": rate})

    def _asked(self, part: str) -> Iterator[Cell]:
        """Yield a part's cells, one seed after the other; a rate of 0 is still to be chosen.

        Raises StudyError: params.yaml has no section of one of its variants.
        """
        grid = getattr(self.section.parts, part)
        for variant in grid.variants:
            if variant not in self.variants:
                fault = f"capacity.parts.{part}.variants: was '{variant}'; allowed: {', '.join(self.variants)}"
                raise StudyError(f"{PARAMS}: {fault}")
        rates = [(matrices, rate) for matrices, of_matrices in (grid.rates or BEST).items() for rate in of_matrices]
        axes = (self.section.seeds, grid.loads, grid.exposures, grid.widths, grid.controls, rates)
        for seed, load, exposures, width, control, (matrices, rate) in product(*axes):
            for variant in grid.variants or self.variants:
                yield Cell(
                    variant=variant,
                    matrices=matrices,
                    learning_rate=rate,
                    exposures=exposures,
                    load=load,
                    width=width,
                    control=control,
                    seed=seed,
                    settings=self.digests[variant],
                )

    def _steps(self, cell: Cell) -> float:
        parameters = [row.parameters for row in self.rows.values() if row.width == cell.width and not row.control]
        people = cell.load * (median(parameters) if parameters else 30 * cell.width**2) / BITS_OF_A_PLACE
        return cell.exposures * people / self.section.batch_size

    def _step_seconds(self, cell: Cell) -> float:
        """Return the median seconds a step of the variant's rows of this width, or of any rows."""
        of_width = [row for row in self.rows.values() if row.width == cell.width]
        rows = [row for row in of_width if row.variant == cell.variant] or of_width
        seconds = [row.seconds / (row.exposures * row.people / self.section.batch_size) for row in rows]
        return median(seconds) if seconds else STEP_SECONDS


def as_choice(cell: Cell, rate: float) -> Cell:
    """Return the cell at load 1 in which the rate is tried for a cell like this."""
    return cell.model_copy(update={"learning_rate": rate, "load": 1.0, "seed": CHOICE_SEED})


def _best(tried: Mapping[float, Row]) -> float:
    """Return the rate with the most bits."""
    return max(tried, key=lambda rate: tried[rate].bits_stored)
