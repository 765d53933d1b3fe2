"""The models that commands load, and the options that name them."""

import argparse
from pathlib import Path

from stages.experiment.trained import Trained, load_trained
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.settings.section import LARGEST_SEED
from stages.system.errors import StudyError, within
from stages.system.files import read_json

MAX_HYPOTHESES = 256  # of one beam; each has a state of its own


def add_model(parser: argparse.ArgumentParser, seed: str = "which training's model; by default the first") -> None:
    """Add --recipe, --variant and --seed; seed: the help of the last."""
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help=seed)


def add_draw_seed(parser: argparse.ArgumentParser) -> None:
    """Add --draw-seed."""
    parser.add_argument("--draw-seed", type=within(0, LARGEST_SEED), default=1, help="seed of the draws, 1 by default")


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
