"""How long a recipe trains: epochs and steps of its phases."""

from math import ceil

from stages.corpus.prepared import Prepared
from stages.settings import Pretrain, QuestionRecipe, Recipe
from stages.training.batches import steps_per_epoch


def epochs(settings: Pretrain, documents: int) -> int:
    """Return the passes over so many documents: the recipe's, or as many as its `least_steps` take."""
    return max(settings.epochs, ceil((settings.least_steps or 0) / steps_per_epoch(documents, settings.batch_size)))


def phases(recipe: Recipe, prepared: Prepared) -> dict[str, int]:
    """Return the steps of one training of each phase, in the order in which they run."""
    pretrain = recipe.pretrain
    documents = len(prepared.documents)
    an_epoch = steps_per_epoch(documents, pretrain.batch_size)
    steps = {"pretrain": epochs(pretrain, documents) * an_epoch}
    if pretrain.own_epochs:
        steps["pretrain_own"] = pretrain.own_epochs * an_epoch
    if isinstance(recipe, QuestionRecipe):
        finetune = recipe.finetune
        an_epoch = steps_per_epoch(len(prepared.questions["train"]), finetune.batch_size)
        steps["finetune_scratch"] = finetune.scratch_epochs * an_epoch
        steps["finetune_pretrained"] = finetune.pretrained_epochs * an_epoch
    return steps


def length(settings: Pretrain, documents: int) -> str:
    """Return a line that says how long a pretraining on so many documents is."""
    passes = epochs(settings, documents) + (settings.own_epochs or 0)
    steps = passes * steps_per_epoch(documents, settings.batch_size)
    return f"Pretraining: documents {documents:,}, epochs {passes:,}, steps {steps:,}."
