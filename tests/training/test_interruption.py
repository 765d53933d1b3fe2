"""Trainings in processes of their own that are killed end with the same weights."""

import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from tests.support.lives import begin, new_project, results, run, unfinished

TRAININGS = {"pretrain": ["weights"], "finetune": ["scratch", "pretrained"]}  # of each seed
STEPS = 24  # a training: 6 epochs of eight documents or questions, two a batch
KILLS = 10  # of each stage
LONGEST_LIFE = 12  # steps after which a training is killed, at most
LONGEST_DELAY = 0.02  # seconds after that, at most: some steps, so that no part of a step or of a write is spared


@pytest.fixture(scope="module", name="undisturbed")
def undisturbed_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose jobs ran without a stop."""
    folder = new_project(tmp_path_factory.mktemp("undisturbed") / "project")
    for stage in TRAININGS:
        run(folder, stage)
    return folder


def steps_done(project: Path, stage: str) -> int:
    """The steps of all trainings of a stage: those in a checkpoint, and all of one that has ended."""
    done = 0
    for folder in (project / "work").glob(f"{stage}-*"):
        for name in TRAININGS[stage]:
            if (folder / f"{name}.json").exists():
                done += STEPS
                continue
            with suppress(FileNotFoundError):
                done += int(load_file(folder / f"{name}.checkpoint")["steps"])
    return done


def assert_results_are_those_of(undisturbed: Path, project: Path, stage: str) -> None:
    assert results(project, stage) == results(undisturbed, stage)
    assert unfinished(project) == []


@pytest.mark.parametrize("stage", TRAININGS)
def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(
    stage: str, tmp_path: Path, undisturbed: Path
) -> None:
    """Killed so many times; whenever all jobs ended, what they left is deleted and they begin anew."""
    project = new_project(tmp_path / "project")
    if stage == "finetune":
        for work in (undisturbed / "work").glob("pretrain-*"):
            shutil.copytree(work, project / "work" / work.name)
    moments, killed = random.Random(0), 0
    while killed < KILLS:
        before = steps_done(project, stage)
        target = before + moments.randrange(LONGEST_LIFE)
        process = begin(project, stage)
        while process.is_alive() and steps_done(project, stage) < target:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, LONGEST_DELAY))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        if process.exitcode:
            killed += 1
            assert steps_done(project, stage) >= before, "began anew"
        else:
            assert_results_are_those_of(undisturbed, project, stage)
            for work in (project / "work").glob(f"{stage}-*"):
                shutil.rmtree(work)
    run(project, stage)
    assert_results_are_those_of(undisturbed, project, stage)
