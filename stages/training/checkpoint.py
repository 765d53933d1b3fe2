"""Checkpoints: all that the next step of a training depends on, on disk.

A checkpoint is written beside the one before and then renamed, so that a kill leaves one of the two whole.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from stages.system.files import write_bytes
from stages.system.terminal import tell
from stages.training.trainer import Trainer


@dataclass
class Progress:
    """How far a training came."""

    steps: int  # done
    seconds: float  # over all resumptions
    losses: np.ndarray  # (all steps,) float32, nats a character; 0 where a step is still to be done
    characters: int = 0  # read so far, PAD not counted


def save_checkpoint(path: Path, trainer: Trainer, progress: Progress) -> None:
    """Write a checkpoint in the place of the one before. Raises OSError: it cannot be written; the one before stays."""
    numbers = {"losses": torch.from_numpy(progress.losses), "steps": torch.tensor(progress.steps)}
    numbers |= {"characters": torch.tensor(progress.characters)}
    seconds = {"seconds": torch.tensor(progress.seconds, dtype=torch.float64)}
    write_bytes(path, save(trainer.state() | numbers | seconds))


def load_checkpoint(path: Path, trainer: Trainer, steps: int) -> Progress:
    """Bring a trainer to where it was at its checkpoint, if there is a whole one; steps: of the training in all.

    A folder of work belongs to one training, and so does a checkpoint in it.
    """
    anew = Progress(0, 0.0, np.zeros(steps, dtype=np.float32))
    if not path.exists():
        return anew
    try:
        tensors = load(path.read_bytes())
    except SafetensorError as error:
        tell(f"{path} is damaged ({error}); the training starts anew")
        return anew
    losses, done, seconds, read = (tensors.pop(name) for name in ("losses", "steps", "seconds", "characters"))
    trainer.restore(tensors)
    return Progress(int(done), float(seconds), losses.numpy(), int(read))
