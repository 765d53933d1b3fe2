"""The model that the options of `ask` and `sample` name, and how its characters are chosen."""

import argparse
from pathlib import Path

from stages.experiment.trained import Trained, load_trained
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.system.errors import StudyError
from stages.system.files import read_json


def named(given: argparse.Namespace, stage: str) -> Trained:
    """Load the model of a stage, `pretrain` or `finetune`, that the options of `add_model` name.

    Raises StudyError: as `load_trained`, or the recipe has no questions.
    """
    settings = load()
    recipe = settings.recipe if given.recipe is None else given.recipe
    (settings.question_recipe if stage == "finetune" else settings.recipe_named)(recipe)  # refused before any variant
    return load_trained(settings, recipe, chosen_variant(settings, recipe, given.variant), given.seed, stage)


def chosen_variant(settings: Settings, recipe: str, given: str | None = None) -> str:
    """Return the given variant or, without one, the selected; of several the best on dev by the recipe's report.

    Raises StudyError: several are selected, and their report is missing or broken.
    """
    if given is not None:
        return given
    selection = settings.model.variant
    if selection not in (COMPARED, ALL):
        return selection
    report = Path("reports") / recipe / selection / "metrics.json"
    try:
        return str(read_json(report)["selected"]["variant"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(f"which variant is best? {report} is missing or broken; name one with --variant") from error
