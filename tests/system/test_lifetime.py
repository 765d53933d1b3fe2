"""A process learns that what started it is gone, unless nohup meant it to go on alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import environment
from tests.support.tiny import ROOT

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


@pytest.mark.parametrize(
    ("hangup", "settings", "killed", "expected"),
    [
        ("SIG_DFL", {}, False, "there"),
        ("SIG_DFL", {}, True, "gone"),
        ("SIG_IGN", {}, True, "there"),  # nohup
        ("SIG_IGN", {"DVC_STAGE": "pretrain"}, True, "gone"),
    ],
)
def test_a_killed_parent_is_missed_but_under_nohup_that_of_dvc_alone(
    hangup: str, settings: dict[str, str], killed: bool, expected: str, tmp_path: Path
) -> None:
    look = tmp_path / "look"
    shell = ["sh", "-c", 'exec "$@"', "sh", sys.executable, "-c", STAGE]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, hangup, *shell, str(look), "5" if expected == "gone" else "0.2"],
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
    assert parent.communicate()[0].strip() == expected
