"""The trainings of a stage: done, resumed or skipped, then published together.

What was trained and published stays in the work folder, so that of `seeds: [1, 2]` after `[1]` the second is all that
is left to train. A stage is run again with the very seeds that it published last only where somebody forces it to:
then these are trained anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
SUFFIXES = ("json", "csv", "safetensors")  # of an ended training: facts, curve, weights
PUBLISHED = "published"  # in a work folder: the seeds that were published last, until the stage begins again


@dataclass(frozen=True)
class Training:
    """One training of a seed; `model` makes its first weights."""

    task: Task
    model: Callable[[], GPT]


Plan = Callable[[Path, int], Mapping[str, Training]]  # of a work folder and a seed: its trainings by name, in order


@dataclass
class Run:
    """The trainings of one stage of one experiment, in its work folder."""

    experiment: Experiment
    work: Path
    starter: Starter

    def complete(self, name: str, training: Training, seed: int) -> None:
        """Bring the training `name` to its end, unless an earlier run did.

        Leaves <name>.safetensors (weights), <name>.csv (curve) and <name>.json (facts, written last).

        Raises:
            StudyError: another process is at it.
        """
        with locked(self.work / f"{name}.lock", PATIENCE):
            if not ended(self.work, name):
                self._train(name, training, seed)

    def _train(self, name: str, training: Training, seed: int) -> None:
        result, experiment, task = self.work / name, self.experiment, training.task
        learner = learner_for(training.model(), experiment.recipe.optimizer, experiment.backend)
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
    stage: str, experiment: Experiment, settings: dict[str, Any], output: Path, *data: Path, trainings: Plan
) -> None:
    """Train every seed of an experiment, then publish the results as the folder `output`.

    settings, data: what the results of a seed depend on (`work.place`). Of an experiment with `only_seed` that seed is
    trained and nothing published.
    """
    starter, seeds = Starter(), experiment.recipe.seeds
    name = f"{stage}-{experiment.recipe_name}-{experiment.variant}"

    def train_all(work: Path, seed: int) -> None:
        for each, training in trainings(work, seed).items():
            Run(experiment, work, starter).complete(each, training, seed)

    if experiment.only_seed is not None:
        train_all(place(name, settings, *data), experiment.only_seed)
        return
    with work_folder(name, settings, *data) as work:
        names = {seed: [*trainings(work, seed)] for seed in seeds}
        _begin(work, names)
        left = [seed for seed in seeds if not all(ended(work, each) for each in names[seed])]
        if go_apart(experiment, left):
            train_apart(stage, experiment, left, starter)
        for seed in seeds:  # after train_apart there is nothing left of it to train
            train_all(work, seed)
        _publish(work, [*chain.from_iterable(names.values())], experiment, settings, output)
        write_json(work / PUBLISHED, sorted(seeds))


def ended(work: Path, name: str) -> bool:
    """Whether the training `name` came to its end in a work folder."""
    return (work / f"{name}.json").exists()


def _begin(work: Path, names: Mapping[int, Sequence[str]]) -> None:
    """Forget the trainings, given by seed, where they were published together; the mark of that goes last."""
    mark = work / PUBLISHED
    if mark.exists() and read_json(mark) == sorted(names):
        for name in chain.from_iterable(names.values()):
            for suffix in SUFFIXES:
                (work / f"{name}.{suffix}").unlink(missing_ok=True)
    mark.unlink(missing_ok=True)


def _publish(work: Path, names: Sequence[str], experiment: Experiment, settings: dict[str, Any], output: Path) -> None:
    """Replace the folder `output` by the results of the trainings and where they come from."""
    seconds = sum(read_json(work / f"{name}.json")["seconds"] for name in names)
    depends = settings | {"seeds": experiment.recipe.seeds}
    with new_folder(output) as folder:
        for path in [work / f"{name}.{suffix}" for name in names for suffix in SUFFIXES]:
            write_bytes(folder / path.name, path.read_bytes())  # of a full disk shutil.copy names the source
        write_json(folder / "provenance.json", provenance(depends, experiment.backend, seconds))


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
