"""Checkpoints: all that the next step of a training depends on, on disk.

The last two are kept. When one is damaged, the training goes on from the other, and without both from the start.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load, save

from stages.system.digests import read_sealed, write_sealed
from stages.training.trainer import Trainer


@dataclass
class Progress:
    """How far a training came."""

    steps: int  # done
    seconds: float  # over all resumptions
    losses: np.ndarray  # (all steps,) float32, 0 where a step is still to be done


def save_checkpoint(path: Path, trainer: Trainer, progress: Progress) -> None:
    """Write a checkpoint, and keep the one before. Raises OSError: it cannot be written; the one before stays."""
    numbers = {"losses": torch.from_numpy(progress.losses), "steps": torch.tensor(progress.steps)}
    content = save(trainer.state() | numbers | {"seconds": torch.tensor(progress.seconds, dtype=torch.float64)})
    if path.exists():
        os.replace(path, _before(path))
    write_sealed(path, content)


def load_checkpoint(path: Path, trainer: Trainer, steps: int) -> Progress:
    """Bring a trainer to where it was at the last checkpoint that is whole; steps: of the training in all.

    A folder of work belongs to one training, so that a checkpoint whose seal is whole is one of it.
    """
    for saved in (path, _before(path)):
        if not saved.exists():
            continue
        if content := read_sealed(saved):
            tensors = load(content)
            losses, done, seconds = (tensors.pop(name) for name in ("losses", "steps", "seconds"))
            trainer.restore(tensors)
            return Progress(int(done), float(seconds), losses.numpy())
        saved.unlink()  # else the next one would take it for the one before
        print(f"{saved} is damaged and was deleted; the training goes on from the one before", file=sys.stderr)
    return Progress(0, 0.0, np.zeros(steps, dtype=np.float32))


def delete_checkpoints(path: Path) -> None:
    """Delete the last two."""
    for saved in (path, _before(path)):
        saved.unlink(missing_ok=True)


def _before(path: Path) -> Path:
    return path.with_suffix(".before")
