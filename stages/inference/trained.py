"""A trained model, for whoever wants to talk to it."""

from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.errors import StudyError
from stages.files import read_json
from stages.model.gpt import GPT
from stages.reporting.metrics import best_variant
from stages.settings import ALL, EVERY, Settings
from stages.training.experiment import Experiment

FOLDERS = {"pretrain": "pretrained", "finetune": "finetuned"}  # of the weights that a stage makes


def chosen_variant(settings: Settings, recipe: str) -> str:
    """The selected variant; where several are, the one with the best dev accuracy by the recipe's report.

    Raises:
        StudyError: several are selected and the recipe has no report yet.
    """
    if settings.model.variant not in (ALL, EVERY):
        return settings.model.variant
    path = Path("reports") / recipe / settings.model.variant / "metrics.json"
    variants = ", ".join(settings.study.variants)
    try:
        return best_variant(read_json(path)["variants"])
    except FileNotFoundError:
        fault = "is missing, so which variant is best is unknown"
    except (ValueError, KeyError, TypeError, IndexError):  # no JSON, or other JSON
        fault = "is broken"
    raise StudyError(f"{path} {fault}; name one with --variant: {variants}")


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
