"""Trainings in processes of their own that are killed, stopped and started twice end with the same weights."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors

from tests.project import copy_stages, start, write_params
from tests.tiny import VARIANTS, tiny_prepared

RECIPE, VARIANT = "handout", VARIANTS[0]
COMMAND = ("stages.pretrain", "--recipe", RECIPE, "--variant", VARIANT)
STEPS = 24  # a seed: 6 epochs of eight documents, two a batch
PATIENCE = 60  # seconds


def tiny(content: dict[str, Any]) -> None:
    """A training of a second, with a checkpoint after every step."""
    content["compute"] = {"device": "cpu", "precision": "float32", "checkpoint_seconds": 0.0}
    recipe = content["recipes"][RECIPE]
    recipe["seeds"] = [1, 2]
    recipe["model"] |= {"layers": 2, "heads": 2, "width": 32, "context": 64, "dropout": 0.1}
    recipe["pretrain"] |= {"epochs": 6, "batch_size": 2, "learning_rate": 0.003}
    recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 30}


def new_project(folder: Path) -> Path:
    folder.mkdir()
    copy_stages(folder)
    write_params(folder, tiny)
    prepared = folder / "data" / "prepared" / RECIPE
    prepared.mkdir(parents=True)
    tiny_prepared().save(prepared)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project")


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Train to the end, or to an error."""
    process = start(folder, *COMMAND)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def published(folder: Path) -> dict[str, bytes]:
    """Weights and curves, by file name."""
    output = folder / "data" / "weights" / RECIPE / VARIANT / "pretrained"
    return {path.name: path.read_bytes() for path in output.iterdir() if path.suffix in (".safetensors", ".csv")}


@pytest.fixture(scope="module", name="uninterrupted")
def uninterrupted_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a training leaves that nobody disturbed."""
    folder = new_project(tmp_path_factory.mktemp("uninterrupted") / "project")
    ended = run(folder)
    assert ended.returncode == 0, ended.stderr
    assert list((folder / "work").iterdir()) == []
    return published(folder)


def steps_done(folder: Path, seed: int) -> int:
    """The steps in the seed's checkpoint; all of them where the seed is finished."""
    for work in (folder / "work").glob("pretrain-*"):
        if (work / f"seed-{seed}.json").exists():
            return STEPS
        try:
            with safetensors.safe_open(work / f"seed-{seed}.checkpoint", framework="np") as file:
                return json.loads(file.metadata()["facts"])["steps"]
        except FileNotFoundError:
            pass
    return 0


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, f"ended before it was stopped: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_the_two_seeds_leave_weights_and_curves(uninterrupted: dict[str, bytes]) -> None:
    assert sorted(uninterrupted) == ["seed-1.csv", "seed-1.safetensors", "seed-2.csv", "seed-2.safetensors"]
    assert uninterrupted["seed-1.safetensors"] != uninterrupted["seed-2.safetensors"]


def test_a_training_killed_three_times_ends_with_the_same_bytes(project: Path, uninterrupted: dict[str, bytes]) -> None:
    resumed_from = None
    for seed, steps in ((1, 2), (1, 12), (2, 5)):
        process = start(project, *COMMAND)
        wait_until(lambda seed=seed, steps=steps: steps_done(project, seed) >= steps, process)
        process.send_signal(signal.SIGKILL)
        _, stderr = process.communicate()
        assert process.returncode == -signal.SIGKILL
        if resumed_from is not None:
            assert f" {resumed_from}/{STEPS} " in stderr  # where the progress bar began
        resumed_from = steps_done(project, seed)
    ended = run(project)
    assert ended.returncode == 0, ended.stderr
    assert f" {resumed_from}/{STEPS} " in ended.stderr
    assert published(project) == uninterrupted
    assert list((project / "work").iterdir()) == []


def test_a_running_training_refuses_a_second_one_and_a_stopped_one_tells_how_to_go_on(
    project: Path, uninterrupted: dict[str, bytes]
) -> None:
    process = start(project, *COMMAND)
    wait_until(lambda: steps_done(project, 1) >= 3, process)
    process.send_signal(signal.SIGSTOP)  # for as long as the second one takes to start
    try:
        second = run(project)
    finally:
        process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=PATIENCE)

    assert second.returncode == 1
    (line,) = second.stderr.splitlines()
    assert re.fullmatch(
        rf"error: work/pretrain-{RECIPE}-{VARIANT}-\w+: process {process.pid} is training here already; "
        rf"wait for it or `kill {process.pid}`",
        line,
    )

    assert process.returncode == 130
    assert "Traceback" not in stderr
    told = re.fullmatch(
        rf"stopped after step (\d+) of {STEPS}; the same command goes on from there", stderr.splitlines()[-1]
    )
    assert told
    assert steps_done(project, 1) == int(told[1])

    ended = run(project)
    assert ended.returncode == 0, ended.stderr
    assert f" {told[1]}/{STEPS} " in ended.stderr
    assert published(project) == uninterrupted
