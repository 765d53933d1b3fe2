"""Trainings in processes of their own that are killed, stopped, orphaned or started twice end with the same weights."""

import ctypes
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.project import copy_stages, environment, not_under_nohup, start, write_params
from tests.tiny import ROOT, VARIANTS, tiny_prepared
from tests.training.killing import fingerprint, steps_done, sum_of_steps

RECIPE, VARIANT = "handout", VARIANTS[0]
ARGUMENTS = ("--recipe", RECIPE, "--variant", VARIANT)
COMMAND = ("stages.pretrain", *ARGUMENTS)
STEPS = 24  # a training: 6 epochs of eight documents or questions, two a batch
TRAININGS = {
    "pretrain": ["seed-1", "seed-2"],
    "finetune": ["scratch-seed-1", "pretrained-seed-1", "scratch-seed-2", "pretrained-seed-2"],
}
WEIGHTS = Path("data") / "weights" / RECIPE / VARIANT
OUTPUTS = {"pretrain": WEIGHTS / "pretrained", "finetune": WEIGHTS / "finetuned"}
KILLS = 20  # of each stage
PATIENCE = 60  # seconds
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # linux/prctl.h, linux/capability.h
SMALL = (10_000, 10_000)  # bytes a file, soft and hard: less than a checkpoint, or than weights


def tiny(content: dict[str, Any]) -> None:
    """A training of a second, with a checkpoint after every step."""
    content["compute"] |= {"device": "cpu", "precision": "float32", "checkpoint_seconds": 0.0}
    recipe = content["recipes"][RECIPE]
    recipe["seeds"] = [1, 2]
    recipe["model"] |= {"layers": 2, "heads": 2, "width": 32, "context": 64, "dropout": 0.1}
    recipe["pretrain"] |= {"epochs": 6, "batch_size": 2, "learning_rate": 0.003}
    recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 30}
    recipe["finetune"] |= {"scratch_epochs": 6, "pretrained_epochs": 6, "batch_size": 2}


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


def run(folder: Path, stage: str = "pretrain") -> subprocess.CompletedProcess[str]:
    """Train to the end, or to an error."""
    process = start(folder, f"stages.{stage}", *ARGUMENTS)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


@pytest.fixture(scope="module", name="undisturbed")
def undisturbed_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose pretraining and finetuning ran without a stop."""
    folder = new_project(tmp_path_factory.mktemp("undisturbed") / "project")
    for stage in TRAININGS:
        ended = run(folder, stage)
        assert ended.returncode == 0, ended.stderr
    assert unfinished(folder) == []
    return folder


def assert_ends_as(undisturbed: Path, project: Path, stage: str = "pretrain") -> None:
    """Let the stage go on where its checkpoint says; it leaves the undisturbed bytes and nothing unfinished."""
    before = first_steps(project, stage)
    ended = run(project, stage)
    assert ended.returncode == 0, ended.stderr
    assert f" {before}/{STEPS} " in ended.stderr  # where the progress bar began
    assert_published_as(undisturbed, project, stage)


def assert_published_as(undisturbed: Path, project: Path, stage: str = "pretrain") -> None:
    assert fingerprint(project / OUTPUTS[stage]) == fingerprint(undisturbed / OUTPUTS[stage])
    assert unfinished(project) == []


def first_steps(folder: Path, stage: str = "pretrain") -> int:
    """The steps done of a stage's first training."""
    return steps_done(folder, stage, TRAININGS[stage][0], STEPS)


def hidden(folder: Path) -> list[Path]:
    return [path for path in (folder / "work").rglob(".*") if path.is_file()]


def unfinished(folder: Path) -> list[Path]:
    """What is left of trainings that did not come to their end."""
    return [*hidden(folder), *(folder / "work").rglob("*.checkpoint")]


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, f"ended before it was stopped: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_each_training_leaves_weights_of_its_own_and_a_curve(undisturbed: Path) -> None:
    for stage, trainings in TRAININGS.items():
        output = undisturbed / OUTPUTS[stage]
        weights = {path.stem: path.read_bytes() for path in output.glob("*.safetensors")}
        assert sorted(weights) == sorted(path.stem for path in output.glob("*.csv")) == sorted(trainings)
        assert len(set(weights.values())) == len(trainings)


@pytest.mark.parametrize("stage", TRAININGS)
def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(
    stage: str, project: Path, undisturbed: Path, record_property: Callable[[str, object], None]
) -> None:
    if stage == "finetune":
        shutil.copytree(undisturbed / OUTPUTS["pretrain"], project / OUTPUTS["pretrain"])
    trainings = dict.fromkeys(TRAININGS[stage], STEPS)
    order = [stage, trainings, str(OUTPUTS[stage]), KILLS, [stage, *ARGUMENTS]]
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.training.killing", json.dumps(order)],
        cwd=project,  # whose stages come first
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    assert ended.returncode == 0, ended.stderr
    killings = json.loads(ended.stdout)
    expected = fingerprint(undisturbed / OUTPUTS[stage])
    identical = "identical" if {*killings["published"]} == {expected} else "DIFFERENT"
    line = (
        f"{stage}: killed {len(killings['steps'])} times at steps {killings['steps']} of {sum(trainings.values())}; "
        f"came to its end {len(killings['published'])} times, weights {identical} "
        f"(sha256 {expected[:16]}; {time.monotonic() - began:.0f} s)"
    )
    print(line)
    record_property("killed", line)
    assert len(killings["steps"]) >= KILLS
    assert identical == "identical"
    assert unfinished(project) == []
    assert sum_of_steps(project, stage, trainings) == sum(trainings.values())


def test_a_running_training_refuses_a_second_one(project: Path) -> None:
    process = start(project, *COMMAND)
    wait_until(lambda: first_steps(project) >= 3, process)
    process.send_signal(signal.SIGSTOP)  # for as long as the second one takes to start
    try:
        second = run(project)
    finally:
        process.kill()
        process.communicate()
    assert second.returncode == 1
    (line,) = second.stderr.splitlines()
    assert re.fullmatch(
        rf"error: work/pretrain-{RECIPE}-{VARIANT}-\w+: process {process.pid} is training here already; "
        rf"wait for it or `kill {process.pid}`",
        line,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])  # Ctrl-C and `kill`
def test_a_stopped_training_ends_its_step_and_tells_how_to_go_on(
    project: Path, undisturbed: Path, number: signal.Signals
) -> None:
    process = start(project, *COMMAND)
    wait_until(lambda: first_steps(project) >= 3, process)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    told = re.fullmatch(
        rf"stopped after step (\d+) of {STEPS}; the same command goes on from there", stderr.splitlines()[-1]
    )
    assert told
    assert first_steps(project) == int(told[1])
    assert_ends_as(undisturbed, project)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_training_stops_when_what_started_it_is_killed(
    project: Path, undisturbed: Path, number: signal.Signals
) -> None:
    shell = f"{sys.executable} -m {' '.join(COMMAND)}; exit $?"  # a shell that waits, as some do for DVC
    script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "sh", "-c", shell],
        cwd=project,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=not_under_nohup,
    )
    wait_until(lambda: first_steps(project) >= 3, process)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)  # until the training closes it, too
    told = re.fullmatch(
        rf"stopped after step (\d+) of {STEPS}, because the process that started it is gone; "
        "the same command goes on from there",
        stderr.splitlines()[-1],
    )
    assert told, stderr
    assert first_steps(project) == int(told[1])
    assert_ends_as(undisturbed, project)


@pytest.mark.parametrize("stage", TRAININGS)
def test_a_full_disk_is_told_in_one_line_and_costs_no_checkpoint(stage: str, project: Path, undisturbed: Path) -> None:
    if stage == "finetune":
        shutil.copytree(undisturbed / OUTPUTS["pretrain"], project / OUTPUTS["pretrain"])
    process = start(project, f"stages.{stage}", *ARGUMENTS)
    wait_until(lambda: first_steps(project, stage) >= 3, process)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, SMALL)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    name = TRAININGS[stage][0]
    assert re.fullmatch(rf"error: work/\S+/{name}\.checkpoint: File too large", stderr.splitlines()[-1])
    assert first_steps(project, stage) >= 3
    assert hidden(project) == []
    assert_ends_as(undisturbed, project, stage)


def under_permissions() -> None:
    """For a process about to start: let root, too, write only where it is allowed to."""
    not_under_nohup()
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)  # has no effect on others


def writes_regardless(folder: Path) -> bool:
    command = [sys.executable, "-c", "import os, sys; sys.exit(not os.access(sys.argv[1], os.W_OK))", str(folder)]
    return subprocess.run(command, preexec_fn=under_permissions).returncode == 0


def test_a_work_folder_that_becomes_read_only_is_told_in_one_line_and_costs_no_checkpoint(
    project: Path, undisturbed: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", *COMMAND],
        cwd=project,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=under_permissions,
    )
    wait_until(lambda: first_steps(project) >= 3, process)
    (folder,) = (project / "work").iterdir()
    folder.chmod(0o555)
    try:
        if writes_regardless(folder):
            process.kill()
            process.communicate()
            pytest.skip("nothing keeps this user from writing")
        _, stderr = process.communicate(timeout=PATIENCE)
    finally:
        folder.chmod(0o755)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    assert re.fullmatch(rf"error: work/{folder.name}/seed-1\.checkpoint: Permission denied", stderr.splitlines()[-1])
    assert first_steps(project) >= 3
    assert_ends_as(undisturbed, project)


def test_a_disk_too_full_for_the_results_is_told_in_one_line_and_costs_no_training(
    project: Path, undisturbed: Path
) -> None:
    for seed in ("1", "2"):  # alone, they are trained and not published
        process = start(project, *COMMAND, "--seed", seed)
        assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    process = start(project, *COMMAND)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, SMALL)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    *before, line = stderr.splitlines()
    assert [": trained before; " in each for each in before] == [True, True]
    assert re.fullmatch(rf"error: {OUTPUTS['pretrain']}/seed-\d\.safetensors: File too large", line)
    assert list((project / WEIGHTS).iterdir()) == []
    assert sum_of_steps(project, "pretrain", dict.fromkeys(TRAININGS["pretrain"], STEPS)) == 2 * STEPS
    ended = run(project)
    assert ended.returncode == 0
    assert [": trained before; " in line for line in ended.stderr.splitlines()] == [True, True]
    assert_published_as(undisturbed, project)


def test_a_folder_that_cannot_be_written_is_told_in_one_line(project: Path) -> None:
    (project / "work").write_text("a file where the folder should be")
    ended = run(project)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert re.fullmatch(rf"error: work/pretrain-{RECIPE}-{VARIANT}-\w+: Not a directory", line)
