"""A process learns that what started it is gone, through shells, unless nohup meant it to go on alone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stages.system.lifetime import ParentProcess, stop_requests
from tests.project import environment
from tests.tiny import ROOT

# Says when it is ready, waits until it is told to look at its parent_process, and says when that is gone.
STAGE = """
import os, sys, time
from pathlib import Path
from stages.system.lifetime import ParentProcess
parent_process = ParentProcess() if "early" in sys.argv else None
print(os.getpid(), flush=True)
while not Path(sys.argv[1]).exists():
    time.sleep(0.002)
parent_process = parent_process or ParentProcess()
for _ in range(100):
    if parent_process.gone():
        print("gone", flush=True)
        break
    time.sleep(0.005)
else:
    print("there", flush=True)
"""
# Starts a command and waits for it, as DVC does; SIGHUP ignored or not, whatever this test's own is.
STARTER = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
subprocess.run(sys.argv[2:])
"""
DIRECT = [sys.executable, "-c", STAGE]
BECOMES = ["sh", "-c", 'exec "$@"', "sh", *DIRECT]
STAYS = ["sh", "-c", '"$@"; exit $?', "sh", *DIRECT]
TWO = ["sh", "-c", '"$@"; exit $?', "sh", *STAYS]


@contextmanager
def started(command: list[str], hangup: str = "SIG_DFL", **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A parent_process in a session of its own, its stage ready; both are killed in the end."""
    parent_process = subprocess.Popen(
        [sys.executable, "-c", STARTER, hangup, *command],
        cwd=ROOT,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent_process.stdout
    stage = int(parent_process.stdout.readline())
    try:
        yield parent_process
    finally:
        parent_process.kill()
        parent_process.wait()
        with suppress(ProcessLookupError):
            os.kill(stage, signal.SIGKILL)


def answer(parent_process: subprocess.Popen[str], look: Path) -> str:
    """What the stage says when it is told to look."""
    look.touch()
    assert parent_process.stdout
    return parent_process.stdout.read().strip()


@pytest.mark.parametrize("command", [DIRECT, BECOMES, STAYS, TWO], ids=["direct", "becomes", "stays", "two"])
@pytest.mark.parametrize("settings", [{}, {"DVC_STAGE": "pretrain"}], ids=["by hand", "by DVC"])
def test_a_killed_starter_is_missed_and_a_living_one_is_not(
    command: list[str], settings: dict[str, str], tmp_path: Path
) -> None:
    look = tmp_path / "look"
    with started([*command, str(look), "early"], **settings) as parent_process:
        assert answer(parent_process, look) == "there"
    look.unlink()
    with started([*command, str(look), "early"], **settings) as parent_process:
        parent_process.kill()
        parent_process.wait()
        assert answer(parent_process, look) == "gone"


@pytest.mark.parametrize("command", [BECOMES, STAYS], ids=["becomes", "stays"])
def test_dvc_that_died_before_its_stage_could_look_is_missed(command: list[str], tmp_path: Path) -> None:
    look = tmp_path / "look"
    with started([*command, str(look)], DVC_STAGE="pretrain") as parent_process:
        assert answer(parent_process, look) == "there"
    look.unlink()
    with started([*command, str(look)], DVC_STAGE="pretrain") as parent_process:
        parent_process.kill()
        parent_process.wait()
        assert answer(parent_process, look) == "gone"


@pytest.mark.parametrize(("settings", "expected"), [({}, "there"), ({"DVC_STAGE": "pretrain"}, "gone")])
def test_nohup_leaves_a_stage_alone_but_not_that_of_a_killed_dvc(
    settings: dict[str, str], expected: str, tmp_path: Path
) -> None:
    look = tmp_path / "look"
    with started([*STAYS, str(look), "early"], "SIG_IGN", **settings) as parent_process:
        parent_process.kill()
        parent_process.wait()
        assert answer(parent_process, look) == expected


def test_a_signal_is_noted_within_the_block_and_answered_as_before_after_it() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stop_requests(ParentProcess()) as stop:
        assert not stop.wanted()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert stop.wanted()
        assert stop.signals == [signal.SIGTERM, signal.SIGINT]
        assert stop.reason == ""
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
