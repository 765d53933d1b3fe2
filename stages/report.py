"""Write the report of a recipe's selected variant, or of several, to reports/<recipe>/<selection>/."""

import argparse
from pathlib import Path

from stages.reporting.folder import write_report
from stages.reporting.sections.changes import changes_part
from stages.reporting.sections.inventions import inventions_part
from stages.reporting.sections.knowledge import knowledge_part
from stages.reporting.sections.saliency import saliency_part
from stages.reporting.sections.shifts import shifts_part
from stages.settings import ALL, COMPARED, load
from stages.system.errors import command


@command
def main() -> None:
    """Read data/evaluations/<recipe>/ and write the report's folder; raises StudyError on missing input."""
    parser = argparse.ArgumentParser(prog="python -m stages.report", description=__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--selection", required=True, help="`all`, `every` or a variant")
    given = parser.parse_args()
    settings = load()
    recipe = settings.question_recipe(given.recipe)
    if given.selection == ALL:
        variants = settings.study.variants
    elif given.selection == COMPARED:
        variants = sorted(settings.study.compared)
    else:
        settings.check_variant(given.selection)
        variants = [given.selection]
    probes = Path("data/probes") / given.recipe
    parts = [
        knowledge_part(probes, variants),
        shifts_part(probes, variants),
        inventions_part(probes, variants),
        saliency_part(probes, variants),
        changes_part(settings.ablation, given.recipe),
    ]
    evaluations = Path("data/evaluations") / given.recipe
    target = Path("reports") / given.recipe / given.selection
    write_report(
        evaluations,
        target,
        given.recipe,
        given.selection,
        variants,
        recipe.report,
        [part for part in parts if part],
        recipe.generation.beams,
    )


if __name__ == "__main__":
    main()
