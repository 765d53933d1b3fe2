"""The model that the options of `ask` and `sample` name, and how its characters are chosen."""

import argparse
from pathlib import Path

from stages.experiment.trained import Trained, load_trained
from stages.inference.decoding import Pick, Sampler
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.system.errors import StudyError
from stages.system.files import read_json


def decoding(given: argparse.Namespace, temperature: float, beams: int | None) -> Pick | int:
    """Return what chooses the characters: a sampler, or the width of a beam.

    temperature and beams: the defaults of the two options; a beam is searched only where no option asks for draws.
    Raises StudyError: an option is impossible, or does not go with --beams.
    """
    draws = {"--temperature": given.temperature, "--top-k": given.top_k, "--top-p": given.top_p}
    options = [option for option, value in draws.items() if value is not None]
    if given.beams and options:
        raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(options)}")
    temperature = temperature if given.temperature is None else given.temperature
    sampler = Sampler(given.draw_seed, temperature, given.top_k, given.top_p)
    width: int | None = given.beams or beams
    if width and not options:
        return width
    is_greedy = sampler.temperature == 0 or sampler.top_k == 1  # a draw would be certain, whatever the model thinks
    return 1 if is_greedy else sampler


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
