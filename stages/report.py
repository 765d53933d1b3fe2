"""Write the report of a recipe's selected variant, or of several, to reports/<recipe>/<selection>/."""

from pathlib import Path

from stages.reporting.folder import write_report
from stages.settings import load
from stages.system.errors import Parser, command


@command
def main() -> None:
    """Read data/evaluations/<recipe>/ and write the report's folder; raises StudyError on missing input."""
    parser = Parser(description=__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--selection", required=True, help="`compared`, `all` or a variant")
    given = parser.parse_args()
    settings = load()
    recipe = settings.question_recipe(given.recipe)
    write_report(
        Path("data/evaluations") / given.recipe,
        Path("reports") / given.recipe / given.selection,
        given.recipe,
        given.selection,
        settings.selected(given.selection),
        recipe.report,
        recipe.generation.beams,
        settings.study.compared,
    )


if __name__ == "__main__":
    main()
