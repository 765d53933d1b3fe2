"""How long a pretraining is."""

from math import ceil

from stages.settings import Pretrain
from stages.training.batches import steps_per_epoch


def epochs(settings: Pretrain, documents: int) -> int:
    """Return the passes over so many documents: the recipe's, or as many as its `least_steps` take."""
    return max(settings.epochs, ceil((settings.least_steps or 0) / steps_per_epoch(documents, settings.batch_size)))


def length(settings: Pretrain, documents: int) -> str:
    """Return a line that says how long a pretraining on so many documents is."""
    passes = epochs(settings, documents) + (settings.own_epochs or 0)
    steps = passes * steps_per_epoch(documents, settings.batch_size)
    return f"Pretraining: documents {documents:,}, epochs {passes:,}, steps {steps:,}."
