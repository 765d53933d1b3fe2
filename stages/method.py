"""Write the report of what is measured once for the whole project to reports/method/."""

from pathlib import Path

from stages.exploration.results import explore
from stages.reporting.method.page import write_method
from stages.settings import load
from stages.system.errors import Parser, command


@command
def main() -> None:
    """Read data/cost/ and data/influence/, compute the attention exploration, and write the report."""
    Parser(prog="python -m stages.method", description=main.__doc__).parse_args()
    variants = load().study.variants
    write_method(Path("reports/method"), Path("data/cost"), Path("data/influence"), explore(), variants)


if __name__ == "__main__":
    main()
