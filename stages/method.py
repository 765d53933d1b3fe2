"""Write the report of what is measured once for the whole project to reports/method/."""

from pathlib import Path

from stages.exploration.results import explore
from stages.reporting.method.page import write_method
from stages.settings import load
from stages.system.errors import Parser, command


@command
def main() -> None:
    """Read what was measured, compute the attention exploration, and write the report."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    latents = settings.variants.get("perceiver", {"bottleneck": 0})["bottleneck"]
    write_method(Path("reports/method"), Path("data"), explore(), settings.study.variants, latents)


if __name__ == "__main__":
    main()
