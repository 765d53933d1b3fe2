"""Jobs on the workers of a real Dask scheduler: checkouts of their own that share nothing with the sender."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from stages.jobs import cluster
from stages.jobs.job import jobs_of
from stages.settings.params import load
from stages.system.errors import UserError
from tests.jobs.test_executor import EPOCHS, assert_published, checkpoints, ended, wait_for
from tests.support.lives import RECIPE, VARIANT, new_project, results, run
from tests.support.project import copy_stages, environment, start

pytest.importorskip("distributed")
DASK = str(Path(sys.executable).with_name("dask"))


@contextmanager
def running(folder: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of Dask in a folder, and whatever it starts, until the block ends."""
    settings = environment(DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT="1s")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [DASK, *command], cwd=folder, env=settings, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(name="address")
def address_fixture(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler."""
    (tmp_path / "scheduler").mkdir()
    known = tmp_path / "scheduler" / "known.json"
    with running(known.parent, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(known)):
        wait_for(lambda: known.exists() and known.read_text())
        yield json.loads(known.read_text())["address"]


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path, address: str) -> Path:
    """A project that sends its jobs, two pretrainings, to the scheduler."""
    folder = new_project(tmp_path / "project", EPOCHS)
    params = folder / "params.yaml"
    params.write_text(params.read_text().replace("cluster: null", f"cluster: {address}"))
    return folder


def worker(folder: Path, address: str) -> list[str]:
    """The command of a worker in a checkout of its own, without data."""
    folder.mkdir()
    copy_stages(folder)
    return ["worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]


def test_a_lost_workers_job_goes_to_another_and_the_weights_are_those_of_one_machine(
    tmp_path: Path, project: Path, address: str
) -> None:
    undisturbed = new_project(tmp_path / "undisturbed", EPOCHS)
    run(undisturbed)
    folders = [tmp_path / "one", tmp_path / "two"]
    with running(folders[0], *worker(folders[0], address)) as one, running(folders[1], *worker(folders[1], address)):
        process = start(project, "stages.pretrain")
        wait_for(lambda: all(map(checkpoints, folders)))
        kill(one)
        code, stderr = ended(process)
    assert (code, "Traceback" in stderr) == (0, False), stderr
    assert_published(project, results(undisturbed, "pretrain"))
    assert ended(start(project, "stages.pretrain")) == (0, "pretrain: jobs done before: 2 of 2\n")


def test_a_worker_with_other_code_is_refused_in_one_line(tmp_path: Path, project: Path, address: str) -> None:
    command = worker(tmp_path / "other", address)
    with (tmp_path / "other/stages/training/loop.py").open("a") as file:
        file.write("\n")
    with running(tmp_path / "other", *command):
        code, stderr = ended(start(project, "stages.pretrain"))
    assert code == 1 and "Traceback" not in stderr
    last = stderr.splitlines()[-1]
    assert last.startswith(f"error: pretrain {VARIANT}, seed ") and f"{tmp_path}/other has other code" in last
    assert not (project / "data/pretrained" / RECIPE).exists()


def test_two_workers_of_a_checkout_receive_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(new_project(tmp_path / "project", EPOCHS))
    job, *_ = jobs_of("pretrain", load())
    sent = cluster.serialised(job)
    assert cluster.received(sent).key == job.key
    monkeypatch.setattr(cluster, "RECEIVED_WITHIN", 0.0)
    with FileLock(cluster.WORK / "received.lock"), pytest.raises(UserError, match="is at work here already"):
        cluster.received(sent)


def test_a_scheduler_that_does_not_answer_is_told_in_one_line(project: Path, address: str) -> None:
    params = project / "params.yaml"
    params.write_text(params.read_text().replace(address, "tcp://127.0.0.1:9"))
    connecting = project / "stages/jobs/cluster.py"
    connecting.write_text(connecting.read_text().replace("CONNECTED_WITHIN = 20", "CONNECTED_WITHIN = 1"))
    code, stderr = ended(start(project, "stages.pretrain"))
    assert code == 1 and "Traceback" not in stderr
    assert stderr.splitlines()[-1].startswith("error: compute.cluster: no scheduler answers at tcp://127.0.0.1:9")
