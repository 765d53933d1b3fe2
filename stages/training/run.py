"""One training, from first weights to files: done, resumed or skipped."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.torch import save

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.system.files import read_json, write_bytes, write_json, write_text
from stages.system.tables import CURVES, read_table
from stages.training.batches import steps_per_epoch
from stages.training.loop import Phase, train
from stages.training.trainer import Trainer, trainer_for

SHORT = {"finetune_scratch": "scratch", "finetune_pretrained": "finetune"}  # a bar's title has half of 80 columns


def train_to(
    weights: Path,
    experiment: Experiment,
    prepared: Prepared,
    phase: Phase,
    seed: int,
    settings: Mapping[str, Any],
    first_weights: Path | None = None,
    continues: bool = False,
) -> dict[str, Any]:
    """Train a phase, unless an earlier run did, and return its facts.

    It leaves weights (.safetensors), curve (.csv) and, last, facts (.json) of the same name; on the way a .checkpoint.
    settings: what it depends on, for the record; first_weights: an ended training's, by default drawn by the seed;
    continues: whether curve, examples and seconds up to these count as this one's, too.
    """
    facts_file, checkpoint = weights.with_suffix(".json"), weights.with_suffix(".checkpoint")
    if not facts_file.is_file():
        trainer = _trainer(experiment, prepared, phase, seed, first_weights)
        interval = experiment.params.compute.checkpoint_seconds
        title = f"{experiment.variant} {SHORT.get(phase.name, phase.name)}, seed {seed}"
        ended = train(trainer, phase, seed, checkpoint, interval, title)

        curve = _curve(experiment.variant, phase, ended.losses, seed)
        counts = {"seconds": ended.seconds, "examples": phase.rows * phase.epochs, "characters": ended.characters}
        if continues and first_weights:
            before = read_json(first_weights.with_suffix(".json"))
            curve = _joined(read_table(first_weights.with_suffix(".csv"), CURVES), curve)
            counts = {name: count + before[name] for name, count in counts.items()}
        facts = {
            "phase": phase.name,
            "seed": seed,
            "parameters": sum(weight.numel() for weight in trainer.masters),
            "loss": float(curve.loss.iloc[-1]),
            **provenance(settings, experiment.backend, counts["seconds"]),
            **counts,
        }
        write_bytes(weights, save(trainer.weights()))
        write_text(weights.with_suffix(".csv"), curve.to_csv(index=False, lineterminator="\n"))
        write_json(facts_file, facts)
    checkpoint.unlink(missing_ok=True)  # a kill may have left it beside the rest
    known: dict[str, Any] = read_json(facts_file)
    return known


def _trainer(
    experiment: Experiment, prepared: Prepared, phase: Phase, seed: int, first_weights: Path | None
) -> Trainer:
    """Return a trainer of the training's first weights."""
    if first_weights:
        model = experiment.trained_model(prepared, first_weights)
        model.move_positions(phase.moved_positions)
    else:
        model = experiment.new_model(prepared, seed)
    return trainer_for(model, experiment.recipe.optimizer, experiment.backend)


def _joined(before: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Return a curve and the one that it goes on from; its steps and epochs count on."""
    before = before.astype(curve.dtypes)
    counts = ["step", "epoch"]
    curve[counts] += before[counts].max()
    return pd.concat([before, curve])


def _curve(variant: str, phase: Phase, losses: np.ndarray, seed: int) -> pd.DataFrame:
    """Return a row an epoch: its number, its last step, the mean loss of its steps, its last learning rate."""
    steps = steps_per_epoch(phase.rows, phase.batch_size)
    last_steps = np.arange(steps, phase.steps + 1, steps)
    return pd.DataFrame(
        {
            "variant": variant,
            "seed": seed,
            "phase": phase.name,
            "step": last_steps,
            "epoch": last_steps // steps,
            "loss": losses.reshape(-1, steps).mean(axis=1).round(5),
            "learning_rate": [float(f"{phase.rate(int(step) - 1):.6g}") for step in last_steps],
        }
    )
