"""A trained model of the study, loaded by name: `model, vocabulary = load_model("quick", "rope")`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.corpus.text import Vocabulary
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.settings import Settings, load
from stages.settings.section import other_setting
from stages.system.errors import StudyError
from stages.system.files import read_json

FOLDERS = {"pretrain": "pretrained", "finetune": "finetuned"}  # below data/, by stage
WEIGHTS = {"pretrain": "weights.safetensors", "finetune": "pretrained.safetensors"}


@dataclass(frozen=True)
class Trained:
    """A model, with its experiment and seed and the data that it was trained on."""

    experiment: Experiment
    seed: int
    prepared: Prepared
    model: GPT


def load_model(recipe: str, variant: str, seed: int | None = None, stage: str = "finetune") -> tuple[GPT, Vocabulary]:
    """Load the model that `dvc repro` made, and its characters. Raises StudyError: as `load_trained`."""
    trained = load_trained(load(), recipe, variant, seed, stage)
    return trained.model.eval(), trained.prepared.vocabulary


def load_trained(params: Settings, recipe: str, variant: str, seed: int | None, stage: str) -> Trained:
    """Load the model of a stage, `pretrain` or `finetune`; seed: the recipe's first if None.

    It may have been trained for any selection; that of params.yaml goes first. Raises StudyError: there is no such
    recipe, variant or seed; the recipe has no questions to be finetuned with; files are missing or damaged, or were
    made with other settings or characters than today's.
    """
    if stage == "finetune":
        params.question_recipe(recipe)
    experiment = Experiment.of(params, recipe, variant)
    seed = experiment.recipe.seeds[0] if seed is None else seed
    if seed not in experiment.recipe.seeds:
        allowed = ", ".join(map(str, experiment.recipe.seeds))
        raise StudyError(f"recipe '{recipe}' has no seed {seed}; allowed: {allowed}")

    make = f"make it with: dvc exp run -S recipe={recipe} -S model.variant={variant}"
    selections = sorted(
        Path("data", FOLDERS[stage], recipe).glob("*"), key=lambda path: path.name != params.model.variant
    )
    of_seed = [selection / variant / f"seed-{seed}" for selection in selections]
    found = [folder for folder in of_seed if (folder / "facts.json").is_file()]
    data = Path("data/prepared") / recipe
    if not found or not data.exists():
        raise StudyError(f"no {variant} of {recipe} with seed {seed} has been trained; {make}")
    prepared = Prepared.load(data)
    # weights of other settings may fit and mean something else: many settings change no shape (rope's theta)
    others = [other_than(read_json(folder / "facts.json"), experiment, prepared) for folder in found]
    if all(others):
        raise StudyError(f"{found[0]} was trained with another {others[0]}; {make}")
    folder = found[others.index(None)]
    return Trained(experiment, seed, prepared, experiment.trained_model(prepared, folder / WEIGHTS[stage]))


def other_than(facts: dict[str, Any], experiment: Experiment, prepared: Prepared) -> str | None:
    """Return what differs today from what weights were made with; None if nothing that they depend on does."""

    def meaning(settings: dict[str, Any]) -> dict[str, Any]:
        return {"variant": settings["variant"], "recipe": {"model": settings["recipe"]["model"]}}

    now = meaning(experiment.settings())
    other = other_setting(meaning(facts["settings"]), now, "recipe.model.dropout")  # which matters in training only
    return other or (None if facts["vocabulary_sha256"] == prepared.vocabulary.sha256 else "vocabulary")
