"""A trained model of the study, loaded by name: `model, vocabulary = load_model("quick", "rope")`."""

from dataclasses import dataclass

from stages.corpus.prepared import Prepared
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.cell import check_is_made
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.settings import Settings, load

WEIGHTS = {"pretrain": "pretrained/seed-{}", "finetune": "finetuned/pretrained-seed-{}"}  # of a seed, by stage


@dataclass(frozen=True)
class Trained:
    """A model, with its cell and seed and the data that it was trained on."""

    experiment: Experiment
    seed: int
    prepared: Prepared
    model: GPT


def load_model(recipe: str, variant: str, seed: int | None = None, stage: str = "finetune") -> tuple[GPT, Vocabulary]:
    """Load the model that `dvc repro` made, and its characters. Raises StudyError: as `load_trained`."""
    trained = load_trained(load(), recipe, variant, seed, stage)
    return trained.model.eval(), trained.prepared.vocabulary


def load_trained(settings: Settings, recipe: str, variant: str, seed: int | None, stage: str) -> Trained:
    """Load the model of a cell from a stage, `pretrain` or `finetune`; seed: the recipe's first if None.

    Raises StudyError: there is no such recipe, variant or seed; the recipe has no questions to be finetuned with; files
    are missing or damaged, or were made with other settings or characters than today's.
    """
    if stage == "finetune":
        settings.question_recipe(recipe)
    experiment = Experiment.of(settings, recipe, variant)
    seed = experiment.recipe.seeds[0] if seed is None else seed
    experiment.check_seed(seed)
    weights = experiment.weights_folder / f"{WEIGHTS[stage].format(seed)}.safetensors"
    for path in (weights, experiment.prepared_folder):
        check_is_made(path, f"{stage}@{recipe}-{variant}")
    prepared = Prepared.load(experiment.prepared_folder)
    # weights of other settings may fit and mean something else: many settings change no shape (rope's theta)
    experiment.check_weights(weights.parent, prepared.vocabulary)
    return Trained(experiment, seed, prepared, experiment.trained_model(prepared, weights))
