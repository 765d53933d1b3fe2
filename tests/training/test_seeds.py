"""Seeds side by side: the weights that each has alone, and no process that outlives the stage."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from stages.experiment.experiment import Experiment
from stages.model.registry import settings_of
from stages.system.errors import StudyError
from stages.training.seeds import train_apart
from tests.project import copy_stages, start
from tests.tiny import FLOAT32, HANDOUT, SETTINGS, VARIANTS
from tests.training.lives import (
    ARGUMENTS,
    OUTPUTS,
    PATIENCE,
    RECIPE,
    STEPS,
    TRAININGS,
    all_steps,
    fingerprint,
    new_project,
    run,
    steps_done,
)

LONGER = 10
LONG = LONGER * STEPS  # steps of a seed's pretraining, so that none ends before the other has begun

# A stage whose trainings do as their seed says, told to stop or not; it leaves <seed>.began and <seed>.stopped.
FAKE = """
import signal, sys, time
from pathlib import Path
seed = sys.argv[-1]
def stop(number, frame):
    Path(f"{seed}.stopped").touch()
    sys.exit(130)
signal.signal(signal.SIGTERM, stop)
Path(f"{seed}.began").touch()
if seed == "1":
    while not Path("2.began").exists():
        time.sleep(0.01)
    sys.exit(3)
if seed == "9":
    time.sleep(0.3)
    sys.exit(0)
time.sleep(60)
"""


def begun(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.began")}


def stopped(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.stopped")}


@pytest.fixture(name="apart")
def apart_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Train seeds by the fake stage, with two threads."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "fake.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    section = settings_of(VARIANTS[0], SETTINGS.variants, HANDOUT.model)
    experiment = Experiment("handout", VARIANTS[0], HANDOUT, section, FLOAT32, 20.0)
    return lambda *seeds: train_apart("fake", replace(experiment), seeds)


def soon(act: Callable[[], None], folder: Path, *seeds: str) -> None:
    """Do something once these seeds have begun."""

    def wait() -> None:
        while not {*seeds} <= begun(folder):
            time.sleep(0.01)
        act()

    threading.Thread(target=wait, daemon=True).start()


def test_a_training_that_fails_ends_the_others_with_its_code(apart: Callable[..., None], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        apart(1, 2)
    assert end.value.code == 3
    assert stopped(tmp_path) == {"2"}


def test_a_training_that_is_killed_is_told_of_in_one_line_and_ends_the_others(
    apart: Callable[..., None], tmp_path: Path
) -> None:
    def kill_one() -> None:
        for path in Path("/proc").glob("[0-9]*"):
            command = (path / "cmdline").read_bytes().split(b"\0") if (path / "cmdline").exists() else []
            if b"stages.fake" in command and command[-2] == b"3" and (path / "cwd").resolve() == tmp_path:
                os.kill(int(path.name), signal.SIGKILL)

    soon(kill_one, tmp_path, "2", "3")
    told = r"a training was ended by SIGKILL \(out of memory\?\); the same command goes on from where it last wrote"
    with pytest.raises(StudyError, match=told):
        apart(2, 3)
    assert stopped(tmp_path) == {"2"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_reaches_all_and_begins_no_further(
    apart: Callable[..., None], tmp_path: Path, number: signal.Signals
) -> None:
    soon(lambda: os.kill(os.getpid(), number), tmp_path, "2", "3", "4", "5")
    with pytest.raises(KeyboardInterrupt, match="stopped"):
        apart(2, 3, 4, 5, 6)  # two a thread at once
    assert stopped(tmp_path) == begun(tmp_path) == {"2", "3", "4", "5"}


def test_all_are_trained_though_not_all_at_once(apart: Callable[..., None], tmp_path: Path) -> None:
    apart(9, 9, 9, 9, 9)
    assert begun(tmp_path) == {"9"} and stopped(tmp_path) == set()


def start_apart(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the stage with two threads, and so its two seeds side by side."""
    return start(folder, "stages.pretrain", *ARGUMENTS, *arguments, threads=2)


def run_apart(folder: Path, *arguments: str) -> str:
    process = start_apart(folder, *arguments)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, stderr
    return stderr


def test_a_killed_stage_leaves_no_training_behind_and_goes_on_to_the_weights_of_one_after_the_other(
    tmp_path: Path,
) -> None:
    def lengthened(content: dict[str, Any]) -> None:
        content["recipes"][RECIPE]["pretrain"]["epochs"] *= LONGER

    alone, project = (new_project(tmp_path / name, lengthened) for name in ("alone", "apart"))
    copy_stages(project)
    run(alone)
    process = start_apart(project)
    while min(steps_done(project, "pretrain", name, LONG) for name in TRAININGS["pretrain"]) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    _, stderr = process.communicate(timeout=PATIENCE)  # until the trainings close it, too
    assert "because the process that started it is gone" in stderr
    assert 4 <= all_steps(project, "pretrain", LONG) < 2 * LONG
    assert not (project / OUTPUTS["pretrain"]).exists()
    run_apart(project)
    assert fingerprint(project / OUTPUTS["pretrain"]) == fingerprint(alone / OUTPUTS["pretrain"])


def test_further_seeds_are_trained_apart_and_without_those_that_ended(tmp_path: Path) -> None:
    def seeds(content: dict[str, Any]) -> None:
        content["recipes"][RECIPE]["seeds"] = [3, 1, 4]

    together, project = (new_project(tmp_path / name, seeds) for name in ("together", "apart"))
    copy_stages(project)
    run(together)
    run_apart(project, "--seed", "1")
    assert not (project / OUTPUTS["pretrain"]).exists()  # one alone is not published
    stderr = run_apart(project)
    assert "pretrain-handout-vanilla, seed 1: trained before; to train all its seeds anew, delete work/" in stderr
    assert [f"pretrain, seed {seed}:" in stderr for seed in (3, 1, 4)] == [True, False, True]
    assert fingerprint(project / OUTPUTS["pretrain"]) == fingerprint(together / OUTPUTS["pretrain"])
