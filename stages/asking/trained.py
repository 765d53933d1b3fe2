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
    """The selected variant; where several are selected, the best on dev by the recipe's report of them.

    Without that report it is the only one that has weights of the stage (`pretrain` or `finetune`). Without any
    weights it is the first of the compared variants: `load_trained` then names the command that trains it.

    Raises:
        StudyError: the report is broken, or there is none and several variants have weights.
    """
    selection, study = settings.model.variant, settings.study
    if selection not in (COMPARED, ALL):
        return selection
    report = Path("reports") / recipe / selection / "metrics.json"
    try:
        return best_variant(read_json(report)["variants"])
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, TypeError, IndexError) as error:  # no JSON, or other JSON
        raise StudyError(f"{report} is broken; name a variant with --variant") from error
    folders = {variant: WEIGHTS / recipe / variant / FOLDERS[stage] for variant in study.variants}
    trained = [variant for variant, folder in folders.items() if any(folder.glob("*.safetensors"))]
    if len(trained) > 1:
        raise StudyError(f"no report says which variant is best; name one with --variant: {', '.join(trained)}")
    return [*trained, study.compared[0]][0]


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
    for path in (weights, experiment.prepared_folder):
        if not path.exists():
            raise StudyError(f"{path} is missing; make it with: {make}")
    prepared = Prepared.load(experiment.prepared_folder)
    if change := _change(experiment, prepared, weights.parent / "provenance.json"):
        raise StudyError(f"{weights} was trained {change}; change that back, or train anew with: {make}")
    return prepared, experiment.trained_model(prepared, weights)


def _change(experiment: Experiment, prepared: Prepared, path: Path) -> str:
    """What differs between a model's settings now and those its weights were made with; nothing if nothing does.

    Many settings leave the weights' shapes as they are (rope's theta, the number of heads): such weights would load
    without complaint and say something else. Weights of earlier commits do not tell what they were made with.
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
    """The settings that decide what weights say, by their keys in params.yaml; dropout matters in training only."""
    shape = {f"recipes.{experiment.recipe_name}.model.{key}": model[key] for key in model if key != "dropout"}
    return {f"variants.{experiment.variant}.{key}": value for key, value in mixer.items()} | shape
