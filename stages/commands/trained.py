"""What the options of `ask` and `sample` mean: a trained model, and how its characters are chosen."""

import argparse
from pathlib import Path

from stages.commands.options import check_is_made
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.inference.decoding import Pick, Sampler
from stages.model.gpt import GPT
from stages.reporting.headline import best_variant
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.system.errors import StudyError
from stages.system.files import read_json

WEIGHTS = {"pretrain": "pretrained/seed-{}", "finetune": "finetuned/pretrained-seed-{}"}  # that a stage makes
Trained = tuple[Experiment, int, Prepared, GPT]  # a cell and its seed, what the model was trained on, and the model


def decoding(given: argparse.Namespace, usual_temperature: float | None) -> Pick | int | None:
    """Decide what chooses the characters: a sampler, or the width of the beam.

    None where neither is asked for by an option nor a temperature is usual. Raises StudyError: an option is impossible,
    or does not go with --beams.
    """
    draws = {"--temperature": given.temperature, "--top-k": given.top_k, "--top-p": given.top_p}
    asked = [option for option, value in draws.items() if value is not None]
    if given.beams is not None:
        if asked:
            raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(asked)}")
        return int(given.beams)
    if not asked and usual_temperature is None:
        return None
    temperature = next(value for value in (given.temperature, usual_temperature, 1.0) if value is not None)
    return Sampler(given.draw_seed, temperature, given.top_k, given.top_p)


def load_trained(given: argparse.Namespace, stage: str) -> Trained:
    """Load the model that a stage made and that the options of `add_model` mean.

    stage: `pretrain` or `finetune`. Raises StudyError: there is no such recipe, variant or seed, or none with
    questions; files are missing or damaged, or of other settings or characters than today.
    """
    settings = load()
    recipe = settings.recipe if given.recipe is None else given.recipe
    (settings.question_recipe if stage == "finetune" else settings.recipe_named)(recipe)  # refuses before a variant is
    variant = chosen_variant(settings, recipe) if given.variant is None else given.variant
    experiment = Experiment.of(settings, recipe, variant)
    seeds = experiment.recipe.seeds
    seed = seeds[0] if given.seed is None else given.seed
    if seed not in seeds:
        raise StudyError(f"recipe '{recipe}' has no seed {seed}; allowed: {', '.join(map(str, seeds))}")

    weights = experiment.weights_folder / f"{WEIGHTS[stage].format(seed)}.safetensors"
    for path in (weights, experiment.prepared_folder):
        check_is_made(path, f"{stage}@{recipe}-{variant}")
    prepared = Prepared.load(experiment.prepared_folder)
    # other weights may fit and say something else, for many settings leave the shapes as they are (rope's theta)
    experiment.check_weights(weights.parent, prepared.vocabulary)
    return experiment, seed, prepared, experiment.trained_model(prepared, weights)


def chosen_variant(settings: Settings, recipe: str) -> str:
    """Name the selected variant; where several are selected, the best on dev by the recipe's report of them.

    Raises StudyError: several are selected, and their report is missing or broken.
    """
    selection = settings.model.variant
    if selection not in (COMPARED, ALL):
        return selection
    report = Path("reports") / recipe / selection / "metrics.json"
    try:
        return best_variant(read_json(report)["variants"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise StudyError(f"{report} is missing or broken; name a variant with --variant") from error
