"""Seeds side by side: the weights that each has alone, and no process that outlives the stage."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.experiment.cell import Cell
from stages.system.errors import StudyError
from stages.training.seeds import threads, train_apart
from tests.support.lives import ARGUMENTS, OUTPUTS, PATIENCE, all_steps, new_project, results, run
from tests.support.project import copy_stages, start
from tests.support.tiny import HANDOUT, SETTINGS, VARIANTS

# A stage whose trainings do as their seed says; it leaves <seed>.began and, where it was told to stop, <seed>.stopped
FAKE = """
import os, signal, sys, time
from pathlib import Path
seed = sys.argv[-1]
def stop(number, frame):
    Path(f"{seed}.stopped").touch()
    sys.exit(130)
signal.signal(signal.SIGTERM, stop)
Path(f"{seed}.began").touch()
if seed in ("1", "7"):
    while not Path("2.began").exists():
        time.sleep(0.01)
    sys.exit(3) if seed == "1" else os.kill(os.getpid(), signal.SIGKILL)
if seed in ("8", "9"):
    sys.exit(print(f"work/{seed}"))
time.sleep(60)
"""


def seeds(folder: Path, event: str) -> set[str]:
    """The seeds that the fake stage left as `began` or `stopped`."""
    return {path.stem for path in folder.glob(f"*.{event}")}


@pytest.fixture(name="apart")
def apart_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Train seeds by the fake stage, with two threads."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "fake.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def apart(*seeds: int) -> Path:
        recipes = {"handout": HANDOUT.model_copy(update={"seeds": [*seeds]})}
        return train_apart("fake", Cell(SETTINGS.model_copy(update={"recipes": recipes}), "handout", VARIANTS[0]))

    return apart


def test_who_only_starts_trainings_or_is_asked_for_help_does_not_load_torch() -> None:
    code = "import sys, stages.pretrain, stages.finetune; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "stages.training.seeds" in modules and not {"torch", "pandas", "scipy"} & {*modules}


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system binds no process to cores")
@pytest.mark.parametrize("number", [1, None])
def test_as_many_threads_are_counted_as_torch_has(monkeypatch: pytest.MonkeyPatch, number: int | None) -> None:
    cores = {*sorted(os.sched_getaffinity(0))[:number]}
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    code = f"import os; os.sched_setaffinity(0, {cores}); import torch; print(torch.get_num_threads())"
    counted = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: cores)
    assert threads() == int(counted)


@pytest.mark.parametrize(("given", "counted"), [("3", 3), ("3,2", 3), ("abc", None), ("0", None), ("-1", None)])
def test_threads_are_read_as_openmp_reads_them(
    monkeypatch: pytest.MonkeyPatch, given: str, counted: int | None
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads()
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads() == (counted or cores)


def test_the_folder_that_all_name_is_given_and_two_are_refused(apart: Callable[..., Path]) -> None:
    assert apart(8) == Path("work/8")
    with pytest.raises(StudyError, match="settings, code or data were changed while the seeds trained"):
        apart(8, 9)


def test_a_training_that_fails_ends_the_others_with_its_code(apart: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        apart(1, 2)
    assert end.value.code == 3
    assert seeds(tmp_path, "stopped") == {"2"}


def test_a_training_that_is_killed_is_told_of_in_one_line_and_ends_the_others(
    apart: Callable[..., Path], tmp_path: Path
) -> None:
    message = r"a training was ended by SIGKILL \(out of memory\?\); the same command goes on from where it last wrote"
    with pytest.raises(StudyError, match=message):
        apart(2, 7)
    assert seeds(tmp_path, "stopped") == {"2"}


def test_a_stop_reaches_all_and_begins_no_further(apart: Callable[..., Path], tmp_path: Path) -> None:
    def stop_soon() -> None:
        while len(seeds(tmp_path, "began")) < 4:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop_soon, daemon=True).start()
    with pytest.raises(KeyboardInterrupt, match="stopped"):
        apart(2, 3, 4, 5, 6)  # two a thread at once
    assert seeds(tmp_path, "stopped") == seeds(tmp_path, "began") == {"2", "3", "4", "5"}


def test_seeds_apart_leave_nothing_behind_a_killed_stage_and_go_on_to_the_weights_of_one_after_the_other(
    tmp_path: Path,
) -> None:
    together, project = (new_project(tmp_path / name) for name in ("together", "apart"))
    copy_stages(project)
    run(together)
    process = start(project, "stages.pretrain", *ARGUMENTS, threads=2)
    while not all_steps(project, "pretrain"):
        assert process.poll() is None
        time.sleep(0.002)
    process.kill()
    _, stderr = process.communicate(timeout=PATIENCE)  # until the trainings close it, too
    assert "because the process that started it is gone" in stderr
    assert not (project / OUTPUTS["pretrain"]).exists()
    process = start(project, "stages.pretrain", *ARGUMENTS, threads=2)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, stderr
    assert results(project / OUTPUTS["pretrain"]) == results(together / OUTPUTS["pretrain"])
