"""Stage `check`: params.yaml as a whole, and the selected cells."""

from pathlib import Path

from stages.model.registry import settings_of
from stages.settings import PARAMS, load
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_text


@command
def main() -> None:
    """Check params.yaml, and build each selected cell once without memory, before anything is computed."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--stamp", type=Path, help="file to write when all is well")
    arguments = parser.parse_args()
    try:
        settings = load()
        recipe = settings.recipe_named(settings.recipe)
        if recipe.data.source == "own":
            settings.sources.own.path()
        for variant in settings.selected(settings.model.variant):
            settings_of(variant, settings.variants, recipe.model)
    except StudyError as error:
        if not str(error).startswith(str(PARAMS)):  # a fault in the file of a variant
            raise
        raise StudyError(f"{error}; `git diff {PARAMS}` shows what was changed") from error
    if arguments.stamp:
        write_text(arguments.stamp, "params.yaml was checked\n")


if __name__ == "__main__":
    main()
