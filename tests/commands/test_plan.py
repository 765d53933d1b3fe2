"""What `make study` says before it begins: counts by hand, and a line instead of a traceback."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from stages.commands import plan
from stages.experiment.experiment import Experiment
from stages.model.cpu.kernels import identity
from tests.support.project import write_params
from tests.support.small_study import small
from tests.support.talking import Outcome, Run, error
from tests.support.tiny import FLOAT32, SETTINGS

Planned = Callable[..., Outcome]


@pytest.fixture(name="planned")
def planned_fixture(tmp_path: Path, run_in: Run) -> Planned:
    """The plan of a small study in a folder of its own, some values by dotted key changed."""

    def planned(values: Mapping[str, Any] | None = None) -> Outcome:
        write_params(tmp_path, small, values)
        threads = torch.get_num_threads()
        outcome = run_in(tmp_path, plan)
        torch.set_num_threads(threads)
        return outcome

    return planned


def test_a_plan_counts_the_trainings_and_times_them(planned: Planned) -> None:
    recipe, trainings, pretraining, duration = planned().out.splitlines()
    assert pretraining == "Pretraining: documents 70, epochs 1, steps 3."  # 40 + 20 + 10 people in batches of 32
    assert recipe == "Recipe quick: vanilla, rope; 1 seed each."
    assert trainings.startswith("6 trainings: ")  # two variants, each pretrained and finetuned twice
    kernels = "no compiled kernels" if identity() == "torch" else "compiled kernels"
    assert duration.startswith("About ") and " min on this machine, " in duration
    assert duration.endswith(f", float32, {kernels}.")
    assert "\n9 trainings: " in planned({"model.variant": "all"}).out


def test_a_plan_that_memory_does_not_hold_is_refused_before_a_step(planned: Planned) -> None:
    outcome = planned({"recipes.quick.pretrain.batch_size": 10**6})
    assert error(outcome).startswith("error: params.yaml: recipes.quick: a step of a full batch needs about ")


def seconds_of(monkeypatch: pytest.MonkeyPatch, seeds: int, threads: int, variants: int = 1) -> float:
    """What trainings of handout are expected to take beside the rest, if a step takes a second."""
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    monkeypatch.setattr(torch, "set_num_threads", lambda number: None)
    monkeypatch.setattr(plan, "pace", lambda experiment, job, data: 1.0)
    rope = Experiment.of(SETTINGS, "handout", "rope")
    handout = rope.recipe.model_copy(update={"seeds": list(range(seeds))})
    cell = replace(rope, params=SETTINGS.model_copy(update={"recipes": {"handout": handout}}), backend=FLOAT32)
    return plan.estimate(cell, variants, plan.invented(rope, SETTINGS)) - plan.REST - variants * plan.REST_A_VARIANT


@pytest.mark.parametrize(
    ("seeds", "threads", "variants", "times"),
    [(1, 2, 1, 1), (1, 2, 4, 4), (2, 1, 1, 2), (2, 2, 1, 1), (3, 2, 1, 1.5), (2, 8, 1, 1)],
)
def test_the_time_is_that_of_all_steps_and_seeds_take_turns_where_there_are_more_than_threads(
    monkeypatch: pytest.MonkeyPatch, seeds: int, threads: int, variants: int, times: float
) -> None:
    # 2,937 documents, 2,000 questions: 650 epochs of 23 batches of 128; 75 and 10 epochs of 8 batches of 256
    assert seconds_of(monkeypatch, seeds, threads, variants) == times * 15_630


@pytest.mark.parametrize(
    ("seconds", "shown"), [(59.0, "1 min"), (61.0, "2 min"), (3540.0, "59 min"), (5400.5, "1 h 31 min")]
)
def test_a_duration_is_in_hours_and_minutes_rounded_up(seconds: float, shown: str) -> None:
    assert plan.duration(seconds) == shown
