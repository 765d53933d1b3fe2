"""A process learns that what started it is gone, unless nohup meant it to go on alone."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stages.system.lifetime import stop_requests
from tests.project import environment
from tests.tiny import ROOT

# Says that it began, waits until it is told to look at what started it, and says what it sees.
STAGE = """
import stages, sys, time
from pathlib import Path
print("began", flush=True)
while not Path(sys.argv[1]).exists():
    time.sleep(0.002)
from stages.system.lifetime import parent_is_gone  # as late as a stage that imports for seconds
began = time.monotonic()
while not parent_is_gone() and time.monotonic() < began + float(sys.argv[2]):
    time.sleep(0.005)
print("gone" if parent_is_gone() else "there", flush=True)
"""
# Starts a command and waits for it, as DVC does; SIGHUP ignored or not, whatever this test's own is.
PARENT = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
subprocess.run(sys.argv[2:])
"""


def seen(tmp_path: Path, command: list[str], killed: bool, hangup: str = "SIG_DFL", **settings: str) -> str:
    """What the stage says of its parent."""
    look = tmp_path / "look"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, hangup, *command, str(look), "5" if killed and hangup == "SIG_DFL" else "0.2"],
        cwd=ROOT,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout and parent.stdout.readline() == "began\n"
    if killed:
        parent.kill()
        parent.wait()
    look.touch()
    return parent.communicate()[0].strip()


DIRECT = [sys.executable, "-c", STAGE]
THROUGH_A_SHELL = ["sh", "-c", 'exec "$@"', "sh", *DIRECT]


@pytest.mark.parametrize("command", [DIRECT, THROUGH_A_SHELL], ids=["direct", "through a shell"])
@pytest.mark.parametrize("killed", [True, False])
def test_a_killed_parent_is_missed_and_a_living_one_is_not(command: list[str], killed: bool, tmp_path: Path) -> None:
    assert seen(tmp_path, command, killed) == ("gone" if killed else "there")


@pytest.mark.parametrize(("settings", "expected"), [({}, "there"), ({"DVC_STAGE": "pretrain"}, "gone")])
def test_nohup_leaves_a_stage_alone_but_not_that_of_a_killed_dvc(
    settings: dict[str, str], expected: str, tmp_path: Path
) -> None:
    assert seen(tmp_path, DIRECT, True, "SIG_IGN", **settings) == expected


def test_a_signal_is_noted_within_the_block_and_answered_as_before_after_it() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stop_requests() as stop:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert stop.requested() and stop.reason == ""
        assert stop.signals == [signal.SIGTERM, signal.SIGINT]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
