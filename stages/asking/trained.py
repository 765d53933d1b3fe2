"""A trained model, for whoever wants to talk to it."""

from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.reporting.metrics import best_variant
from stages.settings import ALL, COMPARED, Settings
from stages.system.errors import StudyError
from stages.system.files import read_json

WEIGHTS = Path("data/weights")  # by recipe, variant and stage
FOLDERS = {"pretrain": "pretrained", "finetune": "finetuned"}  # of the weights that a stage makes


def chosen_variant(settings: Settings, recipe: str, stage: str) -> str:
    """The selected variant; where several are, the one with the best dev accuracy by the recipe's report of them.

    Without that report it is the best one by its own report among those that the stage (`pretrain` or `finetune`) has
    left weights of; without any weights, among all: `load_trained` then names the command that trains it.

    Raises:
        StudyError: a report is broken, or no report says which of several is best.
    """
    selection, study = settings.model.variant, settings.study
    if selection not in (COMPARED, ALL):
        return selection
    reported = _figures(recipe, selection)
    if not reported:
        folders = {variant: WEIGHTS / recipe / variant / FOLDERS[stage] for variant in study.variants}
        trained = [variant for variant, folder in folders.items() if any(folder.glob("*.safetensors"))]
        if len(trained) == 1:
            return trained[0]
        for variant in trained or study.variants:
            reported |= _figures(recipe, variant)
        if trained and not reported:
            raise StudyError(f"no report says which is best; name one with --variant: {', '.join(trained)}")
    return best_variant(reported) if reported else study.compared[0]


def _figures(recipe: str, selection: str) -> dict[str, dict[str, Any]]:
    """The figures of each variant in a report; none where there is no such report."""
    path = Path("reports") / recipe / selection / "metrics.json"
    try:
        variants: dict[str, dict[str, Any]] = read_json(path)["variants"]
        best_variant(variants)
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, IndexError) as error:  # no JSON, or other JSON
        raise StudyError(f"{path} is broken; name a variant with --variant") from error
    return variants


def chosen_seed(experiment: Experiment, seed: int | None) -> int:
    """The seed, or the recipe's first where it is None.

    Raises:
        StudyError: the recipe trains no such seed.
    """
    seeds = experiment.recipe.seeds
    if seed is not None and seed not in seeds:
        trained = ", ".join(map(str, seeds))
        raise StudyError(f"seed {seed}: recipe '{experiment.recipe_name}' trains others; allowed: {trained}")
    return seeds[0] if seed is None else seed


def load_trained(experiment: Experiment, stage: str, name: str) -> tuple[Prepared, GPT]:
    """The data and the model that the stage `pretrain` or `finetune` made under that name.

    Raises:
        StudyError: they are missing, damaged, or of another model or vocabulary than the settings and data of today.
    """
    weights = experiment.weights_folder / FOLDERS[stage] / f"{name}.safetensors"
    make = f"dvc repro stages/dvc.yaml:{stage}@{experiment.recipe_name}-{experiment.variant}"
    if not (weights.is_file() and experiment.prepared_folder.is_dir()):
        missing = experiment.prepared_folder if weights.is_file() else weights
        raise StudyError(f"{missing} is missing; make it with: {make}")
    prepared = Prepared.load(experiment.prepared_folder)
    if change := _change(experiment, prepared, weights.parent / "provenance.json"):
        raise StudyError(f"{weights} was trained {change}; change that back, or train anew with: {make}")
    return prepared, experiment.trained_model(prepared, weights)


def _change(experiment: Experiment, prepared: Prepared, path: Path) -> str:
    """What of a model's meaning has changed since its weights were made, by their provenance; nothing if nothing has.

    Many settings leave the weights' shapes as they are (rope's theta, the number of heads): such weights would be read
    without complaint and say something else. Those of earlier commits do not tell what they were made with.
    """
    now = _meaning(experiment, experiment.mixer.model_dump(), experiment.recipe.model.model_dump())
    try:
        made = read_json(path)
        settings = made.get("settings")
        if settings is None:
            return ""
        vocabulary = made["vocabulary_sha256"]
        before = _meaning(experiment, settings["variant"][experiment.variant], settings["recipe"]["model"])
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise StudyError(f"{path} is missing or broken; `dvc repro` makes it") from error
    for key in before | now:
        if before.get(key) != now.get(key):
            return f"with {key}: {before.get(key)}, params.yaml has {now.get(key)}"
    same = vocabulary == prepared.vocabulary.sha256
    return "" if same else f"with other characters than {experiment.prepared_folder} has"


def _meaning(experiment: Experiment, mixer: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    """What decides what weights say, by its key in params.yaml: all of the shape but dropout, which is of training."""
    shape = {f"recipes.{experiment.recipe_name}.model.{key}": model[key] for key in model if key != "dropout"}
    return {f"variants.{experiment.variant}.{key}": value for key, value in mixer.items()} | shape
