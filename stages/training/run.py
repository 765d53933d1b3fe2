"""The trainings of a stage: done, resumed or skipped, then published together.

What was trained stays in the work folder when it is published: of `seeds: [1, 2]` after `[1]` the second is all that is
left to train, and a stage that ended before DVC had stored its output costs nothing to run again.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.torch import save

from stages.corpus.prepared import VOCABULARY
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import commit, provenance
from stages.model.gpt import GPT
from stages.system.digests import intact, result_folder, write_sums
from stages.system.files import write_bytes, write_json, write_text
from stages.system.live import Live
from stages.system.locks import locked
from stages.system.records import CURVES, FACTS, Amount, read_record, read_table, record
from stages.training.batches import steps_per_epoch
from stages.training.checkpoint import delete_checkpoints
from stages.training.cuda_graph import trainer_for
from stages.training.loop import Job, train
from stages.training.seeds import go_apart, train_apart
from stages.training.work import folder_of

PATIENCE = 10.0  # seconds: a training whose parent was killed needs some to stop
SUFFIXES = ("json", "csv", "safetensors")  # of an ended training: facts, curve, weights


@dataclass(frozen=True)
class Training:
    """One training of a seed; `model` makes its first weights."""

    job: Job
    model: Callable[[], GPT]
    after: str | None = None  # the name of the training that it goes on from: its curve and seconds count as this one's


Plan = Callable[[Path, int], Mapping[str, Training]]  # of a work folder and a seed: its trainings by name, in order


@dataclass
class Run:
    """The trainings of one stage of one experiment, in its work folder."""

    name: str
    experiment: Experiment
    work: Path
    plan: Plan

    def left(self, seeds: Sequence[int]) -> list[int]:
        """Those of the seeds that are still to be trained; of the others it is said that they are not."""
        left = [seed for seed in seeds if not all(map(self.ended, self.plan(self.work, seed)))]
        for seed in seeds:
            if seed not in left:
                told = f"{self.name}, seed {seed}: trained before; to train all its seeds anew, delete {self.work}"
                print(told, file=sys.stderr)
        return left

    def ended(self, name: str) -> bool:
        """Whether the training `name` came to its end, and what it left is whole."""
        return intact(self.work / f"{name}.sha256", *self._files(name))

    def _files(self, name: str) -> list[Path]:
        return [self.work / f"{name}.{suffix}" for suffix in SUFFIXES]

    def complete(self, seed: int) -> None:
        """Bring the trainings of a seed to their ends, but for those that earlier runs did.

        Each leaves <name>.safetensors (weights), <name>.csv (curve), <name>.json (facts) and, last, <name>.sha256.
        Raises StudyError: another process is at one.
        """
        for name, training in self.plan(self.work, seed).items():
            with locked(self.work / f"{name}.lock", PATIENCE):
                if not self.ended(name):
                    if (sums := self.work / f"{name}.sha256").exists():
                        print(f"{sums.with_suffix('.*')}: damaged, so it is trained anew", file=sys.stderr)
                    self._train(name, training, seed)
                    write_sums(sums, self._files(name))
                delete_checkpoints(self.work / f"{name}.checkpoint")  # a kill may have left them beside the rest

    def _train(self, name: str, training: Training, seed: int) -> None:
        result, experiment, job = self.work / name, self.experiment, training.job
        trainer = trainer_for(training.model(), experiment.recipe.optimizer, experiment.backend)
        line = experiment.recipe.seeds.index(seed) if experiment.only_seed is not None else 0
        checkpoint = result.with_suffix(".checkpoint")
        title = experiment.title(job.phase, seed)
        trainings = len(experiment.recipe.seeds) * max(1, len(experiment.selected))
        live = Live(experiment.recipe_name, experiment.variant, job.phase, seed, trainings)
        losses, seconds = train(trainer, job, seed, checkpoint, experiment.checkpoint_seconds, title, line, live)
        curve, examples = _curve(experiment.variant, job, losses, seed), job.rows * job.epochs
        if training.after:
            before = self.work / training.after
            earlier = read_record(before.with_suffix(".json"), FACTS)
            steps = read_table(before.with_suffix(".csv"), CURVES, ",")
            curve[["step", "epoch"]] += steps[["step", "epoch"]].max().astype(int)
            curve = pd.concat([steps.astype(curve.dtypes), curve])
            seconds, examples = seconds + earlier["seconds"], examples + earlier["examples"]
        write_bytes(result.with_suffix(".safetensors"), save(trainer.weights()))
        write_text(result.with_suffix(".csv"), curve.to_csv(index=False, lineterminator="\n"))
        facts = {
            "phase": job.phase,
            "seed": seed,
            "parameters": sum(weight.numel() for weight in trainer.masters),
            "loss": float(curve.loss.iloc[-1]),
            "examples": examples,
            "seconds": round(seconds, 2),
            "commit": commit(),  # that of the folder's provenance may be a later one, of the same code
            "device": experiment.backend.device_name,
        }
        write_json(result.with_suffix(".json"), facts)

    def publish(self, settings: dict[str, Any], vocabulary: Vocabulary, output: Path) -> None:
        """Replace the folder `output` by the results of all seeds, and what they are of and where they come from."""
        plans = [self.plan(self.work, seed) for seed in self.experiment.recipe.seeds]
        passed = {training.after for plan in plans for training in plan.values()}
        names = [name for plan in plans for name in plan if name not in passed]
        seconds = sum(read_record(self.work / f"{name}.json", record(seconds=Amount))["seconds"] for name in names)
        with result_folder(output) as folder:
            for path in [path for name in names for path in self._files(name)]:
                write_bytes(folder / path.name, path.read_bytes())  # of a full disk shutil.copy names the source
            of = settings | {"seeds": self.experiment.recipe.seeds}
            origin = {"settings": of, "vocabulary_sha256": vocabulary.sha256}
            write_json(folder / "provenance.json", origin | provenance(of, self.experiment.backend, seconds))


def run(
    stage: str, experiment: Experiment, settings: dict[str, Any], output: Path, *data: Path, trainings: Plan
) -> None:
    """Train every seed of an experiment, then publish the results as the folder `output`.

    settings, data: what the results of a seed depend on (`work.folder_of`); the first folder has the vocabulary. Of an
    experiment with `only_seed` that seed is trained and nothing published.
    """
    seeds = experiment.recipe.seeds
    name = f"{stage}-{experiment.recipe_name}-{experiment.variant}"
    own = Run(name, experiment, folder_of(name, settings, *data), trainings)
    if experiment.only_seed is not None:
        for seed in own.left([experiment.only_seed]):
            own.complete(seed)
        return
    with locked(own.work / "lock"):
        left = own.left(seeds)
        if go_apart(experiment, left):
            train_apart(stage, experiment, left)
        for seed in seeds:  # after train_apart there is nothing left of it to train
            own.complete(seed)
        own.publish(settings, Vocabulary.load(data[0] / VOCABULARY), output)


def _curve(variant: str, job: Job, losses: np.ndarray, seed: int) -> pd.DataFrame:
    """A row an epoch: its number, its last step, the mean loss of its steps, its last learning rate."""
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
