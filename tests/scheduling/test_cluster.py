"""A real cluster as its user meets it: workers that die, a stage that fails, a scheduler that is lost, a change."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.support.project import hears_signals, write_params
from tests.support.small_study import TWO, Project, clone, small, stages_run

PATIENCE = 600.0  # seconds until what is waited for counts as failed
CLUSTER = (sys.executable, "-m", "stages", "cluster")
CELL = ("pretrain", "finetune", "evaluate")
# in trainings alone: stage check, which imports it, too, runs before the workers are asked
BROKEN = """
import sys
if "stages.pretrain" in sys.orig_argv:
    raise RuntimeError("this mixer is broken")
"""


def two_seeds(content: dict[str, Any]) -> None:
    """The small study, long enough to kill a worker in the middle of a training."""
    small(content)
    content["compute"]["checkpoint_seconds"] = 0.5
    content["recipes"]["quick"]["seeds"] = [1, 2]
    content["recipes"]["quick"]["pretrain"]["epochs"] = 100


def started(output: str) -> list[str]:
    """The units that workers began, in order."""
    return re.findall(r"^started  (.+) on ", output, re.MULTILINE)


def until(done: Callable[[], Any]) -> Any:
    """The result, once there is one."""
    end = time.monotonic() + PATIENCE
    while not (result := done()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
    return result


@dataclass
class Workers:
    """A scheduler and two workers, started by hand in a folder where the project is not."""

    project: Project
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> str:
        """Start them; the scheduler's address."""
        self.folder.mkdir()
        file = self.folder / "scheduler.json"
        self._dask("scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard")
        address: str = json.loads(until(lambda: file.exists() and file.read_text(encoding="utf-8")))["address"]
        self._dask("worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--name", "by-hand")
        return address

    def _dask(self, *arguments: str) -> None:
        command = [str(Path(sys.executable).with_name("dask")), *arguments]
        quiet = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen(command, env=self.project.environment, **quiet))  # type: ignore[call-overload]

    def stop(self) -> None:
        """End them all."""
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def running(project: Project, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command in the clone, while the block runs."""
    process = subprocess.Popen(
        [*CLUSTER, *arguments],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=hears_signals,
    )
    try:
        yield process
    finally:
        process.kill()


def trainer_of(project: Project, variant: str, seed: int) -> psutil.Process:
    """The process that trains a seed, when it has written a checkpoint."""
    training = f"work/pretrain-quick-{variant}-*/seed-{seed}"
    now = time.time()
    until(lambda: any(path.stat().st_mtime > now for path in project.folder.glob(f"{training}.checkpoint")))
    (lock,) = project.folder.glob(f"{training}.lock")
    return psutil.Process(int(lock.read_text(encoding="utf-8").partition(" on ")[0]))


@dataclass(frozen=True)
class Story:
    """What became of a clone, and another in which `dvc repro` did everything by itself."""

    project: Project
    stopped: str  # output of the first run: Ctrl-C in a training of vanilla
    failing: str  # the second's output: rope is broken, a worker is killed in a training of vanilla
    lost: str  # the third's: rope is mended, the scheduler is killed
    last: str  # the fourth's, which has workers of its own
    repro: str
    serial: Project


@pytest.fixture(scope="module", name="story")
def story_fixture(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("cluster")
    project = clone(folder / "project", two_seeds)
    rope = project.folder / "stages" / "mixers" / "rope.py"
    sound = rope.read_text(encoding="utf-8")
    workers = Workers(project, folder / "elsewhere")
    try:
        address = workers.start()
        with running(project, "--scheduler", address, "stages/dvc.yaml:pretrain@quick-vanilla") as process:
            trainer = trainer_of(project, "vanilla", 1)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, which the workers do not hear
            stopped = process.communicate(timeout=PATIENCE)[0]
            assert process.returncode == 130, stopped
            trainer.wait(PATIENCE)
        rope.write_text(sound + BROKEN, encoding="utf-8")
        with running(project, "--scheduler", address) as process:
            trainer_of(project, "vanilla", 1).parent().parent().send_signal(signal.SIGKILL)  # above it is its unit
            failing = process.communicate(timeout=PATIENCE)[0]
            assert process.returncode == 1, failing
        rope.write_text(sound, encoding="utf-8")
        with running(project, "--scheduler", address) as process:
            trainer_of(project, "rope", 1)
            workers.processes[0].kill()
            lost = process.communicate(timeout=PATIENCE)[0]
            assert process.returncode == 1, lost
    finally:
        workers.stop()
    last = project.run(*CLUSTER, "--local", "2")
    repro = project.run("dvc", "repro")
    serial = clone(folder / "serial" / "project", two_seeds)
    serial.run("dvc", "repro", "stages/dvc.yaml:evaluate@quick-vanilla")
    return Story(project, stopped, failing, lost, last, repro, serial)


def test_ctrl_c_is_told_in_one_line_and_leaves_a_checkpoint(story: Story) -> None:
    assert story.stopped.splitlines()[-1].startswith("stopped; trainings leave their checkpoints")
    assert started(story.stopped).count("prepare@quick") == 1  # though both workers wait for it
    assert "Traceback" not in story.stopped


def test_a_killed_workers_training_goes_on_elsewhere_and_nothing_else_runs_again(story: Story) -> None:
    begun = started(story.failing)
    assert begun.count("pretrain@quick-vanilla seed 1") == 2
    assert {unit for unit in begun if begun.count(unit) > 1} == {"pretrain@quick-vanilla seed 1"}
    assert "lost     pretrain@quick-vanilla seed 1: its worker is gone" in story.failing
    log = (story.project.folder / "work/logs/pretrain@quick-vanilla-seed-1.log").read_text(encoding="utf-8")
    first, second, third = map(int, re.findall(r"\| +(\d+)/\d+ \[00:00<\?", log))
    assert first == 0 < second <= third  # after Ctrl-C, after the kill


def test_what_fails_is_told_with_its_reason_and_the_rest_goes_on(story: Story) -> None:
    assert "failed   pretrain@quick-rope seed 1: " in story.failing
    assert "this mixer is broken" in story.failing
    assert str(story.project.folder / "work/logs/pretrain@quick-rope-seed-1.log") in story.failing
    assert "done     evaluate@quick-vanilla" in story.failing
    last = story.failing.splitlines()[-1]
    assert last.startswith("error: failed: ") and "not run for want of them: " in last
    lost = last.partition("not run for want of them: ")[2].split(", ")
    assert {"pretrain@quick-rope", "finetune@quick-rope", "evaluate@quick-rope", "compare@quick-rope"} < {*lost}
    assert not [unit for unit in lost if "vanilla" in unit]


def test_a_lost_scheduler_is_told_in_one_line(story: Story) -> None:
    assert story.lost.splitlines()[-1].startswith("error: the scheduler is gone")
    assert "Traceback" not in story.lost


def test_the_same_command_then_does_only_what_is_left(story: Story) -> None:
    begun = started(story.last)
    assert begun and not [unit for unit in begun if "vanilla" in unit or "@" not in unit]
    assert len(begun) == len({*begun}), story.last


def test_a_plain_repro_then_trains_nothing(story: Story) -> None:
    assert stages_run(story.repro) == ["study"]


def test_weights_and_lock_are_those_of_a_serial_repro(story: Story) -> None:
    ours = _weights(story.project)
    assert len(ours) == 2 + 2 * 2  # two seeds: pretrained, and finetuned from either start
    assert ours == _weights(story.serial)
    assert _lock(story.project) == _lock(story.serial)


def _weights(project: Project) -> dict[str, bytes]:
    paths = (project.folder / "data" / "weights" / "quick" / "vanilla").rglob("*.safetensors")
    return {path.name: path.read_bytes() for path in paths}


def _lock(project: Project) -> dict[str, Any]:
    """The cell's entries, without the hashes of folders that hold seconds."""
    text = (project.folder / "stages" / "dvc.lock").read_text(encoding="utf-8")
    entries = yaml.safe_load(text)["stages"]
    cell = {name: entries[name] for name in ("prepare@quick", *(f"{stage}@quick-vanilla" for stage in CELL))}
    for entry in cell.values():
        for file in (*entry["deps"], *entry["outs"]):
            if file["path"].startswith(("data/weights", "data/evaluations")):
                del file["md5"], file["size"]
    return cell


def test_an_edited_setting_reruns_what_reads_it_and_no_more(story: Story) -> None:
    only_evaluations_read = {"recipes.quick.generation.max_characters": 12}
    write_params(story.project.folder, two_seeds, only_evaluations_read)
    begun = started(story.project.run(*CLUSTER, "--local", "2"))
    assert {*begun} == {f"{stage}@quick-{variant}" for stage in ("evaluate", "compare") for variant in TWO}


def test_what_was_ever_run_is_restored_and_not_run_again(story: Story) -> None:
    write_params(story.project.folder, two_seeds)
    shutil.rmtree(story.project.folder / "work")
    shutil.rmtree(story.project.folder / "data")
    output = story.project.run(*CLUSTER, "--local", "2")
    assert started(output) == [] and "0 of 12 cached stages to do" in output
