"""The executor with processes: what is killed goes on, what fails stops the others, what is told to stop stops."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from stages.jobs.executor import check_jobs, run_job, run_jobs
from stages.jobs.job import jobs_of
from stages.settings.params import load
from stages.system import files
from stages.system.errors import UserError
from stages.system.files import locked
from tests.support.lives import RECIPE, SEEDS, VARIANT, new_project, results, run, unfinished
from tests.support.project import start

PATIENCE = 120  # seconds
EPOCHS = 40  # some seconds
OUTPUT = Path("data/pretrained") / RECIPE / VARIANT


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Path:
    """A project whose pretraining of a seed takes some seconds."""
    return new_project(tmp_path / "project", EPOCHS, SEEDS[:1])


@pytest.fixture(name="two_seeds")
def two_seeds_fixture(tmp_path: Path) -> Path:
    """The same with two seeds."""
    return new_project(tmp_path / "two", EPOCHS)


@pytest.fixture(scope="module", name="undisturbed")
def undisturbed_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The weights and curves of jobs that ran without a stop."""
    folder = new_project(tmp_path_factory.mktemp("undisturbed") / "project", EPOCHS)
    run(folder)
    return results(folder, "pretrain")


def children(pid: int) -> list[int]:
    """The processes below a process that carry out jobs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            line = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"spawn_main" in line:
            found.append(int(path.parent.name))
    return found


def begin(project: Path, threads: int = 1) -> subprocess.Popen[str]:
    """Begin the stage; each seed has as many threads as it had undisturbed, one: more may change bits."""
    return start(project, "stages.pretrain", threads=threads)


def wait_for(holds: Callable[[], Any]) -> Any:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + PATIENCE
    while not (value := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def checkpoints(project: Path) -> list[Path]:
    return [*(project / "work").glob("*/*.checkpoint")]


def assert_published(project: Path, undisturbed: dict[str, bytes]) -> None:
    weights = {path.parent.name: path.read_bytes() for path in (project / OUTPUT).rglob("*.safetensors")}
    expected = {f"seed-{name.split('-')[3]}": value for name, value in undisturbed.items() if name.endswith("tensors")}
    assert weights == {seed: expected[seed] for seed in weights} != {}


def ended(process: subprocess.Popen[str], started: Sequence[int] = ()) -> tuple[int, str]:
    """Its exit code and stderr; nothing that it started outlives it. started: by one that was killed."""
    started = started or children(process.pid)
    _, stderr = process.communicate(timeout=PATIENCE)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    return process.returncode, stderr


def test_seeds_side_by_side_have_the_weights_that_each_has_alone_and_are_not_trained_twice(
    two_seeds: Path, undisturbed: dict[str, bytes]
) -> None:
    code, stderr = ended(begin(two_seeds, threads=len(SEEDS)))
    assert code == 0 and "pretrain: job" in stderr and " of 2 " in stderr
    assert_published(two_seeds, undisturbed)
    assert {path.name for path in (two_seeds / OUTPUT / VARIANT).iterdir()} == {f"seed-{seed}" for seed in SEEDS}
    shutil.rmtree(two_seeds / "work")  # what is published is found, too
    code, stderr = ended(begin(two_seeds, threads=len(SEEDS)))
    assert (code, stderr) == (0, "pretrain: jobs done before: 2 of 2\n")
    assert_published(two_seeds, undisturbed)


def test_a_killed_process_is_made_anew_and_its_job_goes_on(project: Path, undisturbed: dict[str, bytes]) -> None:
    process = begin(project)
    for _ in range(2):
        wait_for(lambda: checkpoints(project))
        os.kill(wait_for(lambda: children(process.pid))[0], signal.SIGKILL)
        time.sleep(0.5)
    code, stderr = ended(process)
    assert code == 0 and "a process was killed; its job goes on from its checkpoint" in stderr
    assert_published(project, undisturbed)


def test_what_kills_its_process_each_time_is_given_up(project: Path) -> None:
    path = project / "stages/pretrain.py"
    path.write_text(path.read_text().replace("    experiment = Ex", "    import os; os.abort()\n    experiment = Ex"))
    code, stderr = ended(begin(project))
    assert code == 1 and "Traceback" not in stderr
    assert stderr.splitlines()[-1].startswith("error: processes were killed 3 times (out of memory?)")


# Ctrl-C, `kill`, a lost terminal, and what cannot be heeded: then the processes see that their parent is gone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_stopped_or_killed_stage_leaves_a_checkpoint_begins_no_other_job_and_goes_on(
    two_seeds: Path, undisturbed: dict[str, bytes], number: signal.Signals
) -> None:
    process = begin(two_seeds)  # the other job waits for its process
    wait_for(lambda: checkpoints(two_seeds))
    started = children(process.pid)
    process.send_signal(number)
    code, stderr = ended(process, started)
    if number == signal.SIGKILL:
        assert code == -number
    else:
        assert (code, stderr.splitlines()[-1]) == (130, "stopped; the same command goes on from there")
        assert "Traceback" not in stderr
    assert len(checkpoints(two_seeds)) == 1 and not (two_seeds / OUTPUT).exists()
    assert ended(begin(two_seeds, threads=len(SEEDS)))[0] == 0
    assert_published(two_seeds, undisturbed)
    assert unfinished(two_seeds) == []


def test_a_stop_that_reaches_processes_while_they_start_is_a_stop(project: Path) -> None:
    process = begin(project)
    (starting,) = wait_for(lambda: children(process.pid))
    process.send_signal(signal.SIGTERM)
    os.kill(starting, signal.SIGTERM)  # as a signal to the group does
    code, stderr = ended(process)
    assert (code, stderr.splitlines()[-1]) == (130, "stopped; the same command goes on from there")
    assert not (project / OUTPUT).exists()


def test_a_job_that_fails_stops_the_others_and_is_told_in_one_line(two_seeds: Path) -> None:
    params = two_seeds / "params.yaml"
    params.write_text(params.read_text().replace("learning_rate: 0.003", "learning_rate: 1000000.0"))
    code, stderr = ended(begin(two_seeds, threads=len(SEEDS)))
    assert code == 1 and "Traceback" not in stderr
    line = stderr.splitlines()[-1]
    assert re.match(r"error: vanilla pretrain, seed \d: the loss is (nan|inf) at step \d+ of \d+; lower the", line)
    assert not (two_seeds / OUTPUT).exists()


def test_settings_that_change_while_a_stage_runs_are_not_stored_as_its_own(project: Path) -> None:
    process = begin(project)
    wait_for(lambda: checkpoints(project))
    text = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text(text.replace("learning_rate: 0.003", "learning_rate: 0.001"))
    code, stderr = ended(process)
    assert code == 1 and stderr.splitlines()[-1].startswith("error: params.yaml: settings or code were changed while")
    assert not (project / OUTPUT).exists()
    (project / "params.yaml").write_text(text)
    assert ended(begin(project)) == (0, "pretrain: jobs done before: 1 of 1\n")


def test_each_job_that_ended_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(new_project(tmp_path / "project", 1))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # the executor sets it, and it is put back
    jobs = jobs_of("pretrain", load())
    told: list[str] = []
    run_jobs("trial", jobs, 2, lambda job: told.append(job.name))
    assert sorted(told) == [f"pretrain {VARIANT}, seed {seed}" for seed in SEEDS]
    assert all(job.result for job in jobs)


def test_a_job_on_which_another_process_works_is_refused_to_be_killed_on_its_own_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(new_project(tmp_path / "project", 1))
    job = jobs_of("pretrain", load())[0]
    job.folder.mkdir(parents=True)
    with locked(job.folder / "lock"):
        for host, advice in ((files.gethostname(), rf" or `kill {os.getpid()}`$"), ("another", "$")):
            monkeypatch.setattr(files, "gethostname", lambda host=host: host)
            message = rf"{job.folder}: process {os.getpid()} on \S+ is at work here already; wait for it{advice}"
            with pytest.raises(UserError, match=message):
                run_job(job, patience=0.0)
    assert job.result is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="torch finds a GPU")
def test_a_gpu_that_torch_does_not_find_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    job = replace(jobs_of("pretrain", load())[0], traits=("cuda", "bfloat16"))
    with pytest.raises(UserError, match=r"compute\.device: was .* torch finds none"):
        check_jobs([job])
