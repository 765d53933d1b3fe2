"""Measure the cells of the study of prediction that have no row yet, one after the other."""

from stages.model.registry import load_all
from stages.prediction.cell import trained
from stages.prediction.row import ROWS, Cell, Row, cells
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.rows import add_row, read_rows, within_hours


@command
def main() -> None:
    """Train what is missing, and add a row to reports/prediction/rows.csv as each cell ends."""
    settings = load()
    parser = Parser(description=main.__doc__)
    parser.add_argument("--variants", nargs="+", choices=settings.every_variant, help="all by default")
    parser.add_argument("--hours", type=float, default=float("inf"), help="begin no cell after so many hours")
    given = parser.parse_args()
    variants = given.variants or [*settings.every_variant]

    def missing() -> list[Cell]:
        """Read the rows again: other processes may add some."""
        known = {Cell(**row.model_dump()) for row in read_rows(ROWS, Row)}
        return [cell for cell in cells(settings) if cell not in known and cell.variant in variants]

    load_all(settings.every_variant)
    for number, cell in within_hours(iter(lambda: next(iter(missing()), None), None), given.hours):
        row = trained(settings, cell)
        add_row(ROWS, row)
        about = f"{number}, {len(missing())} left: {cell.variant}, world {cell.world}, seed {cell.seed}"
        print(f"{about}: alignment {row.alignment:.3f}, {row.question_bits:.1f} bits of a question", flush=True)


if __name__ == "__main__":
    main()
