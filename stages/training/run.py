"""The trainings of a stage: done, resumed or skipped, then published together."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages.errors import StudyError
from stages.files import new_folder, read_json, write_bytes, write_json, write_text
from stages.model.gpt import GPT
from stages.training.batches import steps_per_epoch
from stages.training.checkpoint import save_tensors
from stages.training.experiment import Experiment
from stages.training.graph import learner_for
from stages.training.lifetime import Starter
from stages.training.loop import History, Task, train
from stages.training.provenance import provenance
from stages.training.seeds import go_apart, train_apart
from stages.training.work import locked, place, work_folder

PATIENCE = 10.0  # seconds: a training whose starter was killed needs some to stop


@dataclass
class Run:
    """The trainings of one stage of one experiment, in its work folder."""

    experiment: Experiment
    work: Path
    starter: Starter

    def complete(self, name: str, task: Task, seed: int, model: Callable[[], GPT]) -> None:
        """Bring the training `name` to its end, unless an earlier run did; model makes its first weights.

        Leaves <name>.safetensors (weights), <name>.csv (curve) and <name>.json (facts, written last).

        Raises:
            StudyError: another process is at it.
        """
        with locked(self.work / f"{name}.lock", PATIENCE):
            if not (self.work / f"{name}.json").exists():
                self._train(name, task, seed, model)

    def _train(self, name: str, task: Task, seed: int, model: Callable[[], GPT]) -> None:
        result, experiment = self.work / name, self.experiment
        learner = learner_for(model(), experiment.recipe.optimizer, experiment.backend)
        checkpoint = self.work / f"{name}.checkpoint"
        title = f"{experiment.recipe_name} {experiment.variant} {task.phase.replace('_', ' ')}, seed {seed}"
        line = experiment.recipe.seeds.index(seed) if experiment.only_seed is not None else 0
        history = train(learner, task, seed, checkpoint, experiment.checkpoint_seconds, title, self.starter, line)
        curve = _curve(experiment.variant, task, history, seed)
        save_tensors(result.with_suffix(".safetensors"), learner.weights())
        write_text(result.with_suffix(".csv"), curve.to_csv(index=False, lineterminator="\n"))
        facts = {
            "phase": task.phase,
            "seed": seed,
            "parameters": learner.model.parameter_count,
            "loss": float(curve.loss.iloc[-1]),
            "examples": task.rows * task.epochs,
            "seconds": round(history.seconds, 2),
        }
        write_json(result.with_suffix(".json"), facts)
        checkpoint.unlink()


def run(
    stage: str,
    experiment: Experiment,
    settings: dict[str, Any],
    output: Path,
    *data: Path,
    train_seed: Callable[[Run, int], None],
) -> None:
    """Train every seed of an experiment, then publish the results as the folder `output`.

    settings, data: what the results depend on (`work.place`); train_seed: completes the trainings of one seed.
    Of an experiment with `only_seed` that seed is trained and nothing published.
    """
    starter = Starter()
    name = f"{stage}-{experiment.recipe_name}-{experiment.variant}"
    if experiment.only_seed is not None:
        train_seed(Run(experiment, place(name, settings, *data), starter), experiment.only_seed)
        return
    with work_folder(name, settings, *data) as work:
        if go_apart(experiment):
            train_apart(stage, experiment, starter)
        for seed in experiment.recipe.seeds:  # after train_apart there is nothing left of it to train
            train_seed(Run(experiment, work, starter), seed)
        facts = [read_json(path) for path in sorted(work.glob("*.json"))]
        seconds = sum(fact["seconds"] for fact in facts)
        with new_folder(output) as folder:
            for suffix in ("safetensors", "csv", "json"):
                for path in work.glob(f"[!.]*.{suffix}"):  # a kill may have left half-written files with a dot
                    write_bytes(folder / path.name, path.read_bytes())  # of a full disk shutil.copy names the source
            write_json(folder / "provenance.json", provenance(settings, experiment.backend, seconds))


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The facts of each training that `run` published in a folder, by name.

    Raises:
        StudyError: there are none.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if path.stem != "provenance"]
    if not paths:
        raise StudyError(f"{folder} is missing; `dvc repro` makes it")
    return {path.stem: read_json(path) for path in paths}


def _curve(variant: str, task: Task, history: History, seed: int) -> pd.DataFrame:
    """A row an epoch: its number, its last step, the mean loss of its steps, its last learning rate."""
    steps = steps_per_epoch(task.rows, task.batch_size)
    last_steps = np.arange(steps, task.steps + 1, steps)
    return pd.DataFrame(
        {
            "variant": variant,
            "seed": seed,
            "phase": task.phase,
            "step": last_steps,
            "epoch": last_steps // steps,
            "loss": history.losses.reshape(-1, steps).mean(axis=1).round(5),
            "learning_rate": [float(f"{task.rate(int(step) - 1):.6g}") for step in last_steps],
        }
    )
