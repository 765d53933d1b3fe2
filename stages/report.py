"""Write the report of a recipe's selected variant, or of all, to reports/<recipe>/<selection>/."""

import argparse
from pathlib import Path

from stages.errors import command
from stages.reporting.folder import write_report
from stages.settings import load


@command
def main() -> None:
    """Read data/evaluations/<recipe>/ and write the report's folder; raises StudyError on missing input."""
    parser = argparse.ArgumentParser(prog="python -m stages.report", description=__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--selection", required=True, help="`all` or a variant")
    given = parser.parse_args()
    recipe = load().recipe_named(given.recipe)
    evaluations = Path("data/evaluations") / given.recipe
    target = Path("reports") / given.recipe / given.selection
    write_report(evaluations, target, given.recipe, given.selection, recipe.report.show_questions)


if __name__ == "__main__":
    main()
