"""A trained model of the study, loaded by name: `model, vocabulary = load_model("quick", "rope")`.

Commands name it by options.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.corpus.text import Vocabulary
from stages.experiment.experiment import Experiment
from stages.jobs.job import KINDS, RECORD, WEIGHTS
from stages.model.gpt import GPT
from stages.settings.params import ALL, COMPARED, Settings, load
from stages.settings.section import LARGEST_SEED, other_setting
from stages.system.errors import UserError, within
from stages.system.files import PREPARED, read_json

MAX_HYPOTHESES = 256  # of one beam; each has a state of its own
WEIGHTS_OF = {"pretrain": f"{WEIGHTS}.safetensors", "finetune": "pretrained.safetensors"}  # by stage


@dataclass(frozen=True)
class Trained:
    """A model, with its experiment and seed and the data that it was trained on."""

    experiment: Experiment
    seed: int
    prepared: Prepared
    model: GPT


def load_model(recipe: str, variant: str, seed: int | None = None, stage: str = "finetune") -> tuple[GPT, Vocabulary]:
    """Load the model that `dvc repro` made, and its characters. Raises UserError: as `load_trained`."""
    trained = load_trained(stage, recipe, variant, seed)
    return trained.model.eval(), trained.prepared.vocabulary


def load_trained(stage: str, recipe: str | None, variant: str | None, seed: int | None) -> Trained:
    """Load the model of a stage, `pretrain` or `finetune`.

    By default the recipe is that of params.yaml, the variant as in `chosen_variant`, the seed the recipe's first. The
    model may have been trained for any selection; that of params.yaml goes first. Raises UserError: there is no such
    recipe, variant or seed; the recipe has no questions to be finetuned with; files are missing or damaged, or were
    made with other settings or characters than today's.
    """
    params = load()
    recipe = params.recipe if recipe is None else recipe
    (params.question_recipe if stage == "finetune" else params.recipe_named)(recipe)  # refused before any variant
    variant = chosen_variant(params, recipe) if variant is None else variant
    experiment = Experiment.of(params, recipe, variant)
    seed = experiment.recipe.seeds[0] if seed is None else seed
    if seed not in experiment.recipe.seeds:
        allowed = ", ".join(map(str, experiment.recipe.seeds))
        raise UserError(f"recipe '{recipe}' has no seed {seed}; allowed: {allowed}")

    target = "pretrain " if stage == "pretrain" else ""
    make = f"make it with: dvc exp run {target}-S recipe={recipe} -S model.variant={variant}"
    selections = sorted((KINDS[stage].output / recipe).glob("*"), key=lambda path: path.name != params.model.variant)
    of_seed = [selection / variant / f"seed-{seed}" for selection in selections]
    found = [folder for folder in of_seed if (folder / RECORD).is_file()]
    if not found:
        raise UserError(f"{KINDS[stage].output} has no {variant} of {recipe} with seed {seed}; {make}")
    prepared = Prepared.load(PREPARED / recipe)
    # weights of other settings may fit and mean something else: many settings change no shape (rope's theta)
    others = [other_than(read_json(folder / RECORD), experiment, prepared) for folder in found]
    if all(others):
        raise UserError(f"{found[0]} was trained with another {others[0]}; {make}")
    folder = found[others.index(None)]
    return Trained(experiment, seed, prepared, experiment.trained_model(prepared, folder / WEIGHTS_OF[stage]))


def other_than(record: dict[str, Any], experiment: Experiment, prepared: Prepared) -> str | None:
    """Return what differs today from what weights were made with; None if nothing that they depend on does."""
    then = record["settings"]
    was = {"variant": then["variant"], "recipe": {"model": then["recipe"]["model"]}}
    model, variants = experiment.recipe.model.model_dump(), experiment.params.variants
    now = {"variant": {experiment.variant: variants[experiment.variant]}, "recipe": {"model": model}}
    other = other_setting(was, now, "recipe.model.dropout")  # which matters in training only
    return other or (None if record["vocabulary_sha256"] == prepared.vocabulary.sha256 else "vocabulary")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --variant and --seed."""
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help="which training's model; by default the first")


def add_draw_seed(parser: argparse.ArgumentParser) -> None:
    """Add --draw-seed."""
    parser.add_argument("--draw-seed", type=within(0, LARGEST_SEED), default=1, help="seed of the draws, 1 by default")


def chosen_variant(params: Settings, recipe: str) -> str:
    """Return the selected variant; of several the best on dev by the recipe's report.

    Raises UserError: several are selected, and their report is missing or broken.
    """
    selection = params.model.variant
    if selection not in (COMPARED, ALL):
        return selection
    report = Path("reports") / recipe / selection / "metrics.json"
    try:
        return str(read_json(report)["selected"]["variant"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"which variant is best? {report} is missing or broken; name one with --variant") from error
