"""Seeds side by side: the weights that each has alone, and no process that outlives the stage."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.project import start, write_params
from tests.training.killing import fingerprint, steps_done, sum_of_steps
from tests.training.test_interruption import (
    ARGUMENTS,
    COMMAND,
    OUTPUTS,
    PATIENCE,
    RECIPE,
    STEPS,
    TRAININGS,
    VARIANT,
    new_project,
    tiny,
    unfinished,
    wait_until,
)  # fmt: skip

THREADS = 2  # so that two seeds have one each, as the trainings they are compared with
LONGER = 40
LONG = LONGER * STEPS  # steps of a seed's pretraining once it is lengthened
STOPPED = r"stopped after step \d+ of \d+; the same command goes on from there"


@pytest.fixture(scope="module", name="alone")
def alone_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which a stage with one thread trained one seed after the other."""
    folder = new_project(tmp_path_factory.mktemp("alone") / "project")
    for stage in TRAININGS:
        process = start(folder, f"stages.{stage}", *ARGUMENTS)
        assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project")


def lengthen(folder: Path) -> Path:
    """Make the pretraining so long that no seed ends before the other has begun."""

    def long(content: dict[str, Any]) -> None:
        tiny(content)
        content["recipes"][RECIPE]["pretrain"]["epochs"] *= LONGER

    write_params(folder, long)
    return folder


@pytest.fixture(scope="module", name="long_alone")
def long_alone_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `alone`, the long pretraining only."""
    folder = lengthen(new_project(tmp_path_factory.mktemp("long") / "project"))
    process = start(folder, *COMMAND)
    assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    return folder


def begin(folder: Path, stage: str = "pretrain") -> subprocess.Popen[str]:
    return start(folder, f"stages.{stage}", *ARGUMENTS, threads=THREADS)


def processes(folder: Path) -> list[int]:
    """The processes that train in a project."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cwd").resolve() == folder.resolve() and b"--seed" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:  # it ended
            continue
    return found


def seed_of(process: int) -> int | None:
    """The seed that a process trains; None where it has ended."""
    try:
        return int(Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[-2])
    except (OSError, IndexError):
        return None


def steps(folder: Path, of_each: int = STEPS) -> int:
    return sum_of_steps(folder, "pretrain", dict.fromkeys(TRAININGS["pretrain"], of_each))


@pytest.mark.parametrize("stage", TRAININGS)
def test_they_end_in_the_weights_of_one_after_the_other(stage: str, project: Path, alone: Path) -> None:
    if stage == "finetune":
        shutil.copytree(alone / OUTPUTS["pretrain"], project / OUTPUTS["pretrain"])
    process = begin(project, stage)
    wait_until(lambda: len(processes(project)) == 2, process)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, stderr
    assert fingerprint(project / OUTPUTS[stage]) == fingerprint(alone / OUTPUTS[stage])
    assert unfinished(project) == []


def test_one_seed_alone_is_trained_and_not_published_and_the_stage_goes_on_from_it(project: Path, alone: Path) -> None:
    process = start(project, *COMMAND, "--seed", "2")
    assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    assert not (project / OUTPUTS["pretrain"]).exists()
    assert steps(project) == STEPS
    process = begin(project)
    _, stderr = process.communicate(timeout=PATIENCE)
    (told,) = [line for line in stderr.splitlines() if "seed 2" in line]
    assert re.fullmatch(
        rf"pretrain-{RECIPE}-{VARIANT}, seed 2: trained before; to train all its seeds anew, delete work/\S+", told
    )
    assert fingerprint(project / OUTPUTS["pretrain"]) == fingerprint(alone / OUTPUTS["pretrain"])


def test_further_seeds_are_trained_apart_and_without_those_that_ended(project: Path, tmp_path: Path) -> None:
    def seeds(*wanted: int) -> Callable[[dict[str, Any]], None]:
        def change(content: dict[str, Any]) -> None:
            tiny(content)
            content["recipes"][RECIPE]["seeds"] = [*wanted]

        return change

    together = new_project(tmp_path / "together")
    write_params(together, seeds(3, 1, 4))
    write_params(project, seeds(1))
    for folder in (together, project):
        process = start(folder, *COMMAND)
        assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    write_params(project, seeds(3, 1, 4))
    process, seen = begin(project), set[int]()
    while process.poll() is None:
        seen |= {seed_of(number) for number in processes(project)} - {None}
        time.sleep(0.01)
    assert process.returncode == 0
    assert seen == {3, 4}
    assert fingerprint(project / OUTPUTS["pretrain"]) == fingerprint(together / OUTPUTS["pretrain"])


def test_a_seed_that_the_recipe_has_not_is_refused(project: Path) -> None:
    process = start(project, *COMMAND, "--seed", "7")
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert stderr == "error: recipe 'handout' has no seed 7; allowed: 1, 2\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_stage_leaves_no_training_behind_and_goes_on(
    number: signal.Signals, project: Path, long_alone: Path
) -> None:
    lengthen(project)
    process = begin(project)
    wait_until(lambda: min(steps_done(project, "pretrain", name, LONG) for name in TRAININGS["pretrain"]) >= 2, process)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)  # until the trainings close it, too
    assert "Traceback" not in stderr
    if number == signal.SIGTERM:
        assert process.returncode == 130
        assert len(re.findall(STOPPED, stderr)) == 2
    deadline = time.monotonic() + PATIENCE
    while processes(project):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert 4 <= steps(project, LONG) < 2 * LONG
    assert not (project / OUTPUTS["pretrain"]).exists()
    process = begin(project)
    assert process.communicate(timeout=PATIENCE) and process.returncode == 0
    assert fingerprint(project / OUTPUTS["pretrain"]) == fingerprint(long_alone / OUTPUTS["pretrain"])


def test_a_training_that_fails_tells_why_once_and_ends_the_others(project: Path) -> None:
    params = project / "params.yaml"
    text = params.read_text(encoding="utf-8")
    params.write_text(text.replace("learning_rate: 0.003", "learning_rate: 1.0e+30"), encoding="utf-8")
    process = begin(project)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    assert 1 <= len(re.findall(r"^error: .*the loss is nan", stderr, re.MULTILINE)) <= 2
    assert processes(project) == []


def test_a_training_that_is_killed_is_told_of_in_one_line_and_ends_the_others(project: Path) -> None:
    lengthen(project)
    process = begin(project)
    wait_until(lambda: min(steps_done(project, "pretrain", name, LONG) for name in TRAININGS["pretrain"]) >= 1, process)
    os.kill(processes(project)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    told = "error: a training was ended by SIGKILL (out of memory?); the same command goes on from where it last wrote"
    assert stderr.splitlines()[-1] == told
    assert len(re.findall(STOPPED, stderr)) == 1
    assert processes(project) == []
