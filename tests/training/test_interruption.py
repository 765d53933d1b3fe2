"""Trainings in processes of their own that are killed, stopped or started twice end with the same weights."""

import random
import re
import shutil
import signal
import time
from pathlib import Path
from socket import gethostname

import pytest

from tests.support.lives import (
    RECIPE,
    SEEDS,
    TRAININGS,
    VARIANT,
    all_steps,
    begin,
    new_project,
    results,
    run,
    steps_done,
    unfinished,
)

KILLS = 10  # of each stage
LONGEST_LIFE = 12  # steps after which a training is killed, at most
LONGEST_DELAY = 0.02  # seconds after that, at most: some steps, so that no part of a step or of a write is spared


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project")


@pytest.fixture(scope="module", name="undisturbed")
def undisturbed_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose jobs ran without a stop."""
    folder = new_project(tmp_path_factory.mktemp("undisturbed") / "project")
    for stage in TRAININGS:
        run(folder, stage)
    return folder


def first_steps(folder: Path) -> int:
    """The steps done of the first pretraining."""
    return steps_done(folder, "pretrain", SEEDS[0], "weights")


def assert_results_are_those_of(undisturbed: Path, project: Path, stage: str = "pretrain") -> None:
    assert results(project, stage) == results(undisturbed, stage)
    assert unfinished(project) == []


@pytest.mark.parametrize("stage", TRAININGS)
def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(
    stage: str, project: Path, undisturbed: Path
) -> None:
    """Killed so many times; whenever all jobs ended, what they left is deleted and they begin anew."""
    if stage == "finetune":
        for work in (undisturbed / "work").glob("pretrain-*"):
            shutil.copytree(work, project / "work" / work.name)
    moments, killed = random.Random(0), 0
    while killed < KILLS:
        before = all_steps(project, stage)
        target = before + moments.randrange(LONGEST_LIFE)
        life = begin(project, stage)
        while life.process.is_alive() and all_steps(project, stage) < target:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, LONGEST_DELAY))
        life.process.kill()
        code, stderr = life.end()
        assert code in (0, -signal.SIGKILL), stderr
        if code:
            killed += 1
            assert all_steps(project, stage) >= before, "began anew"
        else:
            assert_results_are_those_of(undisturbed, project, stage)
            for work in (project / "work").glob(f"{stage}-*"):
                shutil.rmtree(work)
    run(project, stage)
    assert_results_are_those_of(undisturbed, project, stage)


def test_a_running_training_refuses_a_second_one(project: Path, undisturbed: Path) -> None:
    life = begin(project)
    life.reach(lambda: first_steps(project) >= 3)
    life.kill(signal.SIGSTOP)  # for as long as the second one takes
    second = begin(project)
    code, stderr = second.end()
    life.kill(signal.SIGCONT)
    number = life.process.pid
    holder = f"process {number} on {re.escape(gethostname())}"
    refused = rf"error: work/pretrain-{RECIPE}-{VARIANT}-1-\w+: {holder} is at work here already; "
    assert code == 1 and re.fullmatch(rf"{refused}wait for it or `kill {number}`", stderr.splitlines()[-1])
    assert life.end()[0] == 0
    assert_results_are_those_of(undisturbed, project)
