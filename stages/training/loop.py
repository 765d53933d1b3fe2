"""A training, which every phase of every variant goes through: from first weights over steps to files.

A checkpoint has all that the next step depends on. It is written beside the one before and then renamed, so that a kill
leaves one of the two whole.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from stages.corpus.prepared import Prepared
from stages.corpus.tables import CURVE_COLUMNS, read_table, write_table
from stages.experiment.experiment import Backend, Experiment
from stages.experiment.provenance import provenance
from stages.model.gpt import GPT
from stages.model.mixer import Mixer
from stages.settings.params import Finetune, OptimizerSettings
from stages.system.errors import UserError, tell
from stages.system.files import read_json, write_bytes, write_json
from stages.system.lifetime import AGAIN, stop_requests
from stages.system.progress import bar
from stages.training.gpu import GraphTrainer
from stages.training.phases import Phase
from stages.training.trainer import Trainer, take_step

LOOK_STEPS = 50  # steps: to look at a loss is to wait for the device
SHORT = {"finetune_scratch": "scratch", "finetune_pretrained": "finetune"}  # a bar's title has half of 80 columns


@dataclass
class Progress:
    """How far a training came."""

    steps: int  # done
    seconds: float  # over all resumptions
    losses: np.ndarray  # (all steps,) float32, nats a character; 0 where a step is still to be done
    characters: int = 0  # read so far, PAD not counted


def save_checkpoint(path: Path, trainer: Trainer, progress: Progress) -> None:
    """Write a checkpoint in the place of the one before. Raises OSError: it cannot be written; the one before stays."""
    numbers = {
        "losses": torch.from_numpy(progress.losses),
        "steps": torch.tensor(progress.steps),
        "characters": torch.tensor(progress.characters),
        "seconds": torch.tensor(progress.seconds, dtype=torch.float64),
    }
    write_bytes(path, save(trainer.state() | numbers))


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
    trainer.restore(tensors)
    seconds, characters = float(tensors["seconds"]), int(tensors["characters"])
    return Progress(int(tensors["steps"]), seconds, tensors["losses"].numpy(), characters)


def train(trainer: Trainer, phase: Phase, seed: int, checkpoint: Path, interval: float, title: str) -> Progress:
    """Train from the checkpoint, where there is one, to the end; leave a checkpoint of the end.

    interval: seconds between checkpoints, at least; title: of the progress bar. The weights depend on the seed and the
    phase, not on stops: a step draws everything from its number.

    Returns the progress of the whole. Raises KeyboardInterrupt: after a signal to stop, or when the parent is gone; a
    checkpoint is written first. Raises UserError: the loss is not finite; nothing is written. Raises OSError: a
    checkpoint cannot be written; the last one stays.
    """
    progress = load_checkpoint(checkpoint, trainer, phase.steps)
    saved = time.monotonic()
    started = saved - progress.seconds
    fresh: list[torch.Tensor] = []  # losses of the last steps, still on the device

    with bar(title, phase.steps, progress.steps) as shown, stop_requests() as stop:
        while True:
            ends = progress.steps == phase.steps or stop.requested()
            saves = ends or (bool(fresh) and time.monotonic() - saved >= interval)
            if fresh and (saves or len(fresh) == LOOK_STEPS):
                losses = torch.stack(fresh).cpu().numpy()
                progress.losses[progress.steps - len(fresh) : progress.steps] = losses
                fresh.clear()
                _check(progress, phase, title)
                shown.note(loss=f"{progress.losses[: progress.steps][-LOOK_STEPS:].mean():.3f}")
            if saves:
                progress.seconds = time.monotonic() - started
                save_checkpoint(checkpoint, trainer, progress)
                saved = time.monotonic()
            if ends:
                break
            examples = phase.examples(seed, progress.steps)
            fresh.append(take_step(trainer, phase, seed, progress.steps, examples))
            progress.steps += 1
            progress.characters += int(examples.lengths.sum())
            shown.step()

        if stop.requested():
            raise KeyboardInterrupt(f"stopped after step {progress.steps} of {phase.steps}{stop.reason}; {AGAIN}")
    return progress


def _check(progress: Progress, phase: Phase, title: str) -> None:
    """Raise UserError if a loss is not finite."""
    losses = progress.losses[: progress.steps]
    broken = np.flatnonzero(~np.isfinite(losses))
    if len(broken):
        where = f"the loss is {losses[broken[0]]} at step {broken[0] + 1} of {phase.steps}"
        raise UserError(f"{title}: {where}; lower the learning_rate of {phase.key} or lengthen its warm-up")


def trainer_for(model: GPT, settings: OptimizerSettings, backend: Backend) -> Trainer:
    """Return the trainer that is fast on the backend's device."""
    if backend.device.type == "cpu":
        return Trainer(model, settings, backend)
    return GraphTrainer(model, settings, backend)


@torch.no_grad()
def move_positions(model: GPT, by: int) -> None:
    """Give each position the weights of the position `by` before it; the first ones keep theirs.

    What moves are the learned positions, and what a mixer declares in `by_position`. In a question the name stands
    ten characters later than in a page: moved by ten, each position does what the one ten before it learned to do.
    """
    weights: list[tuple[torch.Tensor, tuple[int, ...]]] = []
    if model.positions is not None:
        weights.append((model.positions, (0,)))
    for module in model.modules():
        if isinstance(module, Mixer):
            weights += [(getattr(module, name), axes) for name, axes in module.by_position.items()]

    for weight, axes in weights:
        for axis in axes:
            source = torch.arange(weight.shape[axis], device=weight.device)
            source[by:] -= by
            weight.copy_(weight.index_select(axis, source))


def train_to(
    weights: Path,
    experiment: Experiment,
    prepared: Prepared,
    phase: Phase,
    seed: int,
    settings: Mapping[str, Any],
    first_weights: Path | None = None,
) -> dict[str, Any]:
    """Train a phase, unless an earlier run did, and return its record.

    It leaves weights (.safetensors), curve (.csv) and, last, a record (.json) of one name; on the way a .checkpoint.
    settings: what it depends on, for the record; first_weights: an ended training's, by default drawn by the seed.
    """
    record_file, checkpoint = weights.with_suffix(".json"), weights.with_suffix(".checkpoint")
    if not record_file.is_file():
        if first_weights:
            model = experiment.trained_model(prepared, first_weights)
            if isinstance(phase.settings, Finetune):
                move_positions(model, phase.settings.moved_positions)
        else:
            model = experiment.new_model(prepared, seed)
        trainer = trainer_for(model, experiment.recipe.optimizer, experiment.backend)
        interval = experiment.params.compute.checkpoint_seconds
        title = f"{experiment.variant} {SHORT.get(phase.name, phase.name)}, seed {seed}"
        ended = train(trainer, phase, seed, checkpoint, interval, title)

        curve = _curve(experiment.variant, phase, ended.losses, seed)
        counts = {"seconds": ended.seconds, "examples": phase.row_count * phase.epochs, "characters": ended.characters}
        if phase.continues and first_weights:
            before = read_json(first_weights.with_suffix(".json"))
            earlier = read_table(first_weights.with_suffix(".csv"), CURVE_COLUMNS).astype(curve.dtypes)
            curve[["step", "epoch"]] += earlier[["step", "epoch"]].max()
            curve = pd.concat([earlier, curve])
            counts = {name: count + before[name] for name, count in counts.items()}
        record = {
            "phase": phase.name,
            "seed": seed,
            "parameters": sum(weight.numel() for weight in trainer.masters),
            "loss": float(curve.loss.iloc[-1]),
            **provenance(settings, experiment.backend, counts["seconds"]),
            **counts,
        }
        write_bytes(weights, save(trainer.weights()))
        write_table(weights.with_suffix(".csv"), curve)
        write_json(record_file, record)
    checkpoint.unlink(missing_ok=True)  # a kill may have left it beside the rest
    known: dict[str, Any] = read_json(record_file)
    return known


def _curve(variant: str, phase: Phase, losses: np.ndarray, seed: int) -> pd.DataFrame:
    """Return a row an epoch: its number, its last step, the mean loss of its steps, its last learning rate."""
    epochs = np.arange(1, phase.epochs + 1)
    last_steps = epochs * phase.steps_per_epoch
    return pd.DataFrame(
        {
            "variant": variant,
            "seed": seed,
            "phase": phase.name,
            "step": last_steps,
            "epoch": epochs,
            "loss": losses.reshape(phase.epochs, -1).mean(axis=1).round(5),
            "learning_rate": [float(f"{phase.rate(int(step) - 1):.6g}") for step in last_steps],
        }
    )
