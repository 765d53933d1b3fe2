"""What the commands share: options, the trained model that they mean, and notes beside the answers."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.inference.decoding import Pick, Sampler
from stages.model.gpt import GPT
from stages.reporting.headline import best_variant
from stages.settings import Settings, load
from stages.settings.params import ALL, COMPARED
from stages.settings.recipe import MAX_HYPOTHESES
from stages.system.errors import StudyError
from stages.system.files import read_json
from stages.system.terminal import harmless

WEIGHTS = {"pretrain": "pretrained/seed-{}", "finetune": "finetuned/pretrained-seed-{}"}  # that a stage makes
LARGEST_SEED = 2**31 - 1
Trained = tuple[Experiment, int, Prepared, GPT]  # a cell and its seed, what the model was trained on, and the model


def within(least: int, most: int) -> Callable[[str], int]:
    """Make the type of an option that is a whole number of this range."""

    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"was {value}; allowed: {least} to {most}")
        return value

    return number


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --variant and --seed."""
    parser.add_argument("--recipe", help="by default the selection of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help="which training's model; by default the recipe's first seed")


def add_draw_seed(parser: argparse.ArgumentParser) -> None:
    """Add --draw-seed."""
    parser.add_argument("--draw-seed", type=within(0, LARGEST_SEED), default=1, help="seed of the draws, 1 by default")


def add_decoding(parser: argparse.ArgumentParser, temperature: str, beams: str) -> None:
    """Add --temperature, --top-k, --top-p, --draw-seed and --beams; texts: help of the two whose sense differs."""
    parser.add_argument("--temperature", type=float, help=temperature)
    parser.add_argument("--top-k", type=int, help="draw from this many of the likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    add_draw_seed(parser)
    parser.add_argument("--beams", type=within(1, MAX_HYPOTHESES), help=beams)


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


def check_is_made(path: Path, stage: str) -> None:
    """Let a path pass that exists. Raises StudyError: it does not; the line says how to make it."""
    if not path.exists():
        raise StudyError(f"{path} is missing; make it with: dvc repro stages/dvc.yaml:{stage}")


def tell(text: str) -> None:
    """Print a line beside the answers, on stderr."""
    sys.stdout.flush()
    print(harmless(text), file=sys.stderr, flush=True)
