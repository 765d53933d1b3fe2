"""The trainings of an experiment in a folder of work: done, resumed or skipped.

What was trained stays there when it is published. So `seeds: [1, 2]` after `[1]` trains the second alone, and a stage
that ended before DVC had stored its output trains nothing again.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.torch import save

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.system.files import read_json, write_bytes, write_json, write_text
from stages.system.locks import locked
from stages.system.tables import CURVES, read_table
from stages.training.batches import steps_per_epoch
from stages.training.cuda_graph import trainer_for
from stages.training.loop import Job, train
from stages.training.trainer import Trainer
from stages.training.work import files_of, work_folder

PATIENCE = 10.0  # seconds: a training whose parent was killed needs some to stop


@dataclass(frozen=True)
class Training:
    """One training: what is learned, and which weights it begins with."""

    name: str  # begins the names of its files in the folder of work
    seed: int
    job: Job
    first_weights: Path | None = None  # an ended training's; None: drawn by the seed
    continues: bool = False  # whether curve, examples and seconds up to first_weights count as this one's, too


class Run:
    """Trainings of one experiment in the folder of work that belongs to all they depend on."""

    def __init__(
        self, stage: str, experiment: Experiment, prepared: Prepared, settings: dict[str, Any], *data: Path
    ) -> None:
        """Make the folder; settings, data: what the results depend on, as `work_folder` takes them."""
        self.experiment = experiment
        self.prepared = prepared
        self.settings = settings
        self.work = work_folder(f"{stage}-{experiment.recipe_name}-{experiment.variant}", settings, *data)

    def complete(self, trainings: Sequence[Training]) -> None:
        """Bring trainings to their ends, one after the other, but for those that earlier runs did.

        Each leaves <name>.safetensors (weights), <name>.csv (curve) and, last, <name>.json (facts).
        Raises StudyError: another process trains one of them.
        """
        for training in trainings:
            result = self.work / training.name
            patience = 0.0 if self.experiment.only_seed is None else PATIENCE
            with locked(result.with_suffix(".lock"), patience):
                if all(file.is_file() for file in files_of(self.work, training.name)):
                    anew = f"to train it anew, delete {self.work}"
                    print(f"{training.name}: trained before; {anew}", file=sys.stderr)
                else:
                    self._train(training)
                result.with_suffix(".checkpoint").unlink(missing_ok=True)  # a kill may have left it beside the rest

    def _train(self, training: Training) -> None:
        job = training.job
        result = self.work / training.name
        trainer = self._trainer(training)
        losses, seconds = train(
            trainer,
            job,
            training.seed,
            checkpoint=result.with_suffix(".checkpoint"),
            interval=self.experiment.params.compute.checkpoint_seconds,
            title=self.experiment.title(job.phase, training.seed),
            line=self.experiment.line(training.seed),
        )

        curve = _curve(self.experiment.variant, job, losses, training.seed)
        examples = job.rows * job.epochs
        if training.continues and training.first_weights:
            before = read_json(training.first_weights.with_suffix(".json"))
            curve = _joined(read_table(training.first_weights.with_suffix(".csv"), CURVES), curve)
            seconds += before["seconds"]
            examples += before["examples"]

        facts = {
            "phase": job.phase,
            "seed": training.seed,
            "parameters": sum(weight.numel() for weight in trainer.masters),
            "loss": float(curve.loss.iloc[-1]),
            "examples": examples,
            "settings": self.settings,
            "vocabulary_sha256": self.prepared.vocabulary.sha256,
            **provenance(self.settings, self.experiment.backend, seconds),
        }
        write_bytes(result.with_suffix(".safetensors"), save(trainer.weights()))
        write_text(result.with_suffix(".csv"), curve.to_csv(index=False, lineterminator="\n"))
        write_json(result.with_suffix(".json"), facts | {"seconds": round(seconds, 2)})

    def _trainer(self, training: Training) -> Trainer:
        """Return a trainer of the training's first weights."""
        experiment = self.experiment
        if training.first_weights:
            model = experiment.trained_model(self.prepared, training.first_weights)
            model.move_positions(training.job.moved_positions)
        else:
            model = experiment.new_model(self.prepared, training.seed)
        return trainer_for(model, experiment.recipe.optimizer, experiment.backend)


def _joined(before: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Return a curve and the one that it goes on from; its steps and epochs count on."""
    before = before.astype(curve.dtypes)
    counts = ["step", "epoch"]
    curve[counts] += before[counts].max()
    return pd.concat([before, curve])


def _curve(variant: str, job: Job, losses: np.ndarray, seed: int) -> pd.DataFrame:
    """Return a row an epoch: its number, its last step, the mean loss of its steps, its last learning rate."""
    steps = steps_per_epoch(job.rows, job.batch_size)
    last_steps = np.arange(steps, job.steps + 1, steps)
    return pd.DataFrame(
        {
            "variant": variant,
            "seed": seed,
            "phase": job.phase,
            "step": last_steps,
            "epoch": last_steps // steps,
            "loss": losses.reshape(-1, steps).mean(axis=1).round(5),
            "learning_rate": [float(f"{job.rate(int(step) - 1):.6g}") for step in last_steps],
        }
    )
