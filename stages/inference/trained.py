"""A trained model, for whoever wants to talk to it."""

from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.errors import StudyError
from stages.files import read_json
from stages.model.gpt import GPT
from stages.reporting.metrics import best_variant
from stages.settings import ALL, EVERY, Settings
from stages.training.experiment import Experiment

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
    if selection not in (ALL, EVERY):
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
        StudyError: they are missing, damaged, or made with other settings.
    """
    weights = experiment.weights_folder / FOLDERS[stage] / f"{name}.safetensors"
    if not (weights.is_file() and experiment.prepared_folder.is_dir()):
        missing = experiment.prepared_folder if weights.is_file() else weights
        cell = f"{experiment.recipe_name}-{experiment.variant}"
        raise StudyError(f"{missing} is missing; make it with: dvc repro stages/dvc.yaml:{stage}@{cell}")
    prepared = Prepared.load(experiment.prepared_folder)
    return prepared, experiment.trained_model(prepared, weights)
