"""What the options of `ask` and `sample` mean: a trained model, and how its characters are chosen."""

import argparse
from pathlib import Path

from stages.experiment.trained import Trained, load_trained
from stages.inference.decoding import Pick, Sampler
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.system.errors import StudyError
from stages.system.files import read_json


def decoding(given: argparse.Namespace, temperature: float, beams: int | None) -> Pick | int:
    """Decide what chooses the characters: a sampler, or the width of the beam.

    temperature: of the draws, unless an option gives it; beams: the width where no option asks for draws, if any.
    Raises StudyError: an option is impossible, or does not go with --beams.
    """
    draws = {"--temperature": given.temperature, "--top-k": given.top_k, "--top-p": given.top_p}
    asked = [option for option, value in draws.items() if value is not None]
    if given.beams and asked:
        raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(asked)}")
    width = None if asked else given.beams or beams
    usual = temperature if given.temperature is None else given.temperature
    return width or Sampler(given.draw_seed, usual, given.top_k, given.top_p)


def named(given: argparse.Namespace, stage: str) -> Trained:
    """Load the model that a stage made and that the options of `add_model` mean.

    stage: `pretrain` or `finetune`. Raises StudyError: as `load_trained`, or the recipe has no questions.
    """
    settings = load()
    recipe = settings.recipe if given.recipe is None else given.recipe
    (settings.question_recipe if stage == "finetune" else settings.recipe_named)(recipe)  # refuses before a variant is
    return load_trained(settings, recipe, variant_of(settings, recipe, given), given.seed, stage)


def variant_of(settings: Settings, recipe: str, given: argparse.Namespace) -> str:
    """Name the variant that the options of `add_model` mean. Raises StudyError: as `chosen_variant`."""
    return chosen_variant(settings, recipe) if given.variant is None else str(given.variant)


def chosen_variant(settings: Settings, recipe: str) -> str:
    """Name the selected variant; where several are selected, the best on dev by the recipe's report of them.

    Raises StudyError: several are selected, and their report is missing or broken.
    """
    selection = settings.model.variant
    if selection not in (COMPARED, ALL):
        return selection
    report = Path("reports") / recipe / selection / "metrics.json"
    try:
        variants = read_json(report)["variants"]
        return max(variants, key=lambda name: variants[name]["dev_accuracy"])  # the first by name among equals
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise StudyError(f"{report} is missing or broken; name a variant with --variant") from error
