"""Stage `check`: params.yaml as a whole."""

import argparse
from pathlib import Path

from stages.model.registry import settings_of
from stages.settings import load
from stages.system.errors import command
from stages.system.files import write_text


@command
def main() -> None:
    """Check params.yaml, with every variant's section, before anything is computed."""
    parser = argparse.ArgumentParser(prog="python -m stages.check", description=main.__doc__)
    parser.add_argument("--stamp", type=Path, help="file to write when all is well")
    arguments = parser.parse_args()
    settings = load()
    for recipe in settings.recipes.values():
        for variant in settings.study.variants:
            settings_of(variant, settings.variants, recipe.model)
    for change in settings.ablation.changes:
        shape = settings.ablated(change).recipe_named(settings.ablation.recipe).model
        settings_of(settings.ablation.variant, settings.variants, shape)
    shape = settings.recipe_named(settings.influence.recipe).model
    for variant, sections in settings.influence.settings.items():
        for section in sections:
            settings_of(variant, {variant: section}, shape, "influence.settings")
    if arguments.stamp:
        write_text(arguments.stamp, "params.yaml was checked\n")


if __name__ == "__main__":
    main()
