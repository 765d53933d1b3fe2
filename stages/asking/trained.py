"""A trained model, for whoever wants to talk to it."""

from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.reporting.headline import best_variant
from stages.settings.params import ALL, COMPARED, Settings
from stages.system.digests import verified
from stages.system.errors import StudyError
from stages.system.files import read_json

FOLDERS = {"pretrain": "pretrained", "finetune": "finetuned"}  # of the weights that a stage makes


def chosen_variant(settings: Settings, recipe: str) -> str:
    """The selected variant; where several are selected, the best on dev by the recipe's report of them.

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


def load_trained(experiment: Experiment, stage: str, prefix: str, seed: int | None) -> tuple[int, Prepared, GPT]:
    """The seed (by default the recipe's first), the data, and the model that a stage made of them.

    stage: `pretrain` or `finetune`; prefix: of the name of the weights, before `seed-…`. Raises StudyError: there is no
    such seed; files are missing or damaged, or of other settings or characters than today.
    """
    seeds = experiment.recipe.seeds
    if seed is not None and seed not in seeds:
        allowed = ", ".join(map(str, seeds))
        raise StudyError(f"recipe '{experiment.recipe_name}' has no seed {seed}; allowed: {allowed}")
    seed = seeds[0] if seed is None else seed
    weights = experiment.weights_folder / FOLDERS[stage] / f"{prefix}seed-{seed}.safetensors"
    make = f"dvc repro stages/dvc.yaml:{stage}@{experiment.recipe_name}-{experiment.variant}"
    for path in (weights, experiment.prepared_folder):
        if not path.exists():
            raise StudyError(f"{path} is missing; make it with: {make}")
    prepared = Prepared.load(experiment.prepared_folder)
    # other weights may fit and say something else, for many settings leave the shapes as they are (rope's theta)
    now = _meaning(experiment.settings(), prepared.vocabulary.sha256)
    try:
        made = read_json(verified(weights.parent / "provenance.json"))
        same = _meaning(made["settings"], made["vocabulary_sha256"]) == now
    except (OSError, ValueError, KeyError, TypeError):
        same = False
    if not same:
        raise StudyError(f"{weights} was trained with other settings or characters; train anew with: {make}")
    return seed, prepared, experiment.trained_model(prepared, weights)


def _meaning(settings: dict[str, Any], vocabulary: str) -> tuple[Any, ...]:
    """What decides what weights say; dropout matters in training only."""
    return vocabulary, settings["variant"], settings["recipe"]["model"] | {"dropout": None}
