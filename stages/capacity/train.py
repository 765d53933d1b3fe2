"""Train the cells of the study of capacity that have no row yet, one after the other."""

from collections.abc import Sequence

from stages.capacity.cell import trained
from stages.capacity.plan import ROWS, Plan
from stages.capacity.row import Cell, Row
from stages.settings import Settings, load
from stages.settings.measured import CapacityParts
from stages.system.errors import Parser, command
from stages.system.rows import add_row, read_rows, within_hours


@command
def main() -> None:
    """Print the plan, train what is missing, and add a row to reports/capacity/rows.csv as each cell ends."""
    parser = Parser(description=main.__doc__)
    settings = load()
    parts = [*CapacityParts.model_fields]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts, help="of the study; without it all")
    parser.add_argument("--variants", nargs="+", choices=settings.variants, help="of these alone; without it all")
    parser.add_argument("--hours", type=float, default=float("inf"), help="begin no cell after so many")
    parser.add_argument("--plan", action="store_true", help="print the plan and train nothing")
    given = parser.parse_args()
    variants = given.variants or [*settings.variants]

    print_plan(settings, given.parts, variants)
    if given.plan:
        return
    for number, cell in within_hours(iter(lambda: next_cell(settings, given.parts, variants), None), given.hours):
        about = f"{cell.variant} {cell.control} width {cell.width}, load {cell.load:g}, seed {cell.seed}"
        row = trained(settings, cell, f"{number}: {about}")
        add_row(ROWS, row)
        share = row.bits_stored / row.bits_asked
        print(f"{about}, {cell.exposures} times, {cell.matrices} {cell.learning_rate:g}: {share:.3f}", flush=True)


def print_plan(settings: Settings, parts: Sequence[str], variants: Sequence[str]) -> None:
    """Print for each part how many cells have no row, and about how long they take."""
    plan = Plan(settings, read_rows(ROWS, Row))
    for part in parts:
        left = [cell for cell in plan.left(part) if cell.variant in variants]
        print(f"{part}: {len(left)} cells without a row, about {plan.seconds(left) / 3600:.1f} hours of one core")


def next_cell(settings: Settings, parts: Sequence[str], variants: Sequence[str]) -> Cell | None:
    """Return the first cell that can be trained; None: each has its row."""
    plan = Plan(settings, read_rows(ROWS, Row))
    cells = (cell for part in parts for cell in plan.missing(part) if cell.variant in variants)
    return next(cells, None)


if __name__ == "__main__":
    main()
