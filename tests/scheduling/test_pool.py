"""Workers on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import dask
import pytest

from stages.commands.cluster import address
from stages.scheduling.pool import GPU, gpus_here, local, workers_of
from tests.support.tiny import ROOT, SETTINGS


def shown_devices() -> str:
    return os.environ["CUDA_VISIBLE_DEVICES"]


def test_each_gpu_has_a_worker_of_its_own() -> None:
    with local(0, ["3", "5"]) as cluster, cluster.get_client() as client:
        client.wait_for_workers(2)
        assert sorted(client.run(shown_devices).values()) == ["3", "5"]
        assert [worker["resources"] for worker in workers_of(client).values()] == [{GPU: 1}] * 2


def test_workers_are_all_named_though_the_client_renews_what_it_keeps() -> None:
    often = dask.config.set({"distributed.client.scheduler-info-interval": "1ms"})
    with often, local(2, []) as cluster, cluster.get_client() as client:
        client.wait_for_workers(2)
        assert {len(workers_of(client)) for _ in range(1000)} == {2}


def test_gpus_are_those_that_are_shown_and_none_where_the_cpu_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,7")
    assert gpus_here(SETTINGS.compute.model_copy(update={"device": "auto"})) == ["2", "7"]
    assert gpus_here(SETTINGS.compute.model_copy(update={"device": "cpu"})) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")  # none: as many as torch sees
    assert gpus_here(SETTINGS.compute.model_copy(update={"device": "auto"})) == []


def test_without_dask_the_command_says_what_to_install_and_still_helps(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ModuleNotFoundError(\"No module named 'distributed'\")\n")

    def ended_with(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "stages", "cluster", *arguments]
        env = os.environ | {"PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
        return ended.returncode, ended.stdout + ended.stderr

    line = "error: No module named 'distributed'; run `pip install -r requirements-cluster.txt -c requirements.lock`\n"
    assert ended_with("--local", "2") == ended_with("--scheduler", "tcp://host:8786") == (1, line)
    code, output = ended_with("--help")
    assert code == 0 and output.startswith("usage: python -m stages cluster")


@pytest.mark.parametrize("given", ["", "machine", "http://machine:80"])
def test_what_is_no_address_is_told_before_anything_runs(given: str) -> None:
    with pytest.raises(ValueError, match="address"):
        address(given)
    assert address("tcp://machine:8786") == "tcp://machine:8786"
