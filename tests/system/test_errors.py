"""How a command ends, in one line and an exit code, and what it prints of texts of unknown origin."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
import torch

from stages.system.errors import UserError, command, harmless
from stages.system.files import new_folder
from stages.system.lifetime import parent_is_gone, stop_requests
from tests.support.project import copy_stages, environment, start
from tests.support.talking import Run, is_obeyed
from tests.support.tiny import ROOT


def ended(main: Callable[[], None]) -> object:
    with pytest.raises(SystemExit) as end:
        command(main)()
    return end.value.code


COMMANDS = sorted(path.stem for path in (ROOT / "stages").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_the_command_and_does_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run
) -> None:
    module = import_module(f"stages.{name}")
    monkeypatch.setattr("sys.modules", sys.modules | {"__main__": module})  # as `python -m` does
    outcome = run_in(tmp_path, module, "--help")
    assert outcome.code == 0 and f"usage: python -m stages.{name} [-h]" in outcome.out
    assert not any(tmp_path.iterdir())


@pytest.fixture(name="hangup")
def hangup_fixture() -> Iterator[Callable[[signal.Handlers], object]]:
    """Set what a lost terminal does, until the test ends."""
    before = signal.getsignal(signal.SIGHUP)
    yield partial(signal.signal, signal.SIGHUP)
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_ends_in_one_line_and_leaves_nothing_half_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], hangup: Callable[[signal.Handlers], object], number: int
) -> None:
    def main() -> None:
        with new_folder(tmp_path / "made") as folder:
            (folder / "half").write_text("half", encoding="utf-8")
            signal.raise_signal(number)

    hangup(signal.SIG_DFL)
    assert ended(main) == 130
    assert capsys.readouterr().err == "stopped\n"
    assert list(tmp_path.iterdir()) == []


def test_under_nohup_a_lost_terminal_stops_nothing(hangup: Callable[[signal.Handlers], object]) -> None:
    hangup(signal.SIG_IGN)
    with stop_requests() as stop:
        command(lambda: signal.raise_signal(signal.SIGHUP))()
    assert not stop.signals


@pytest.mark.parametrize(
    ("handler", "stage", "gone"),
    [(signal.SIG_DFL, "", True), (signal.SIG_IGN, "", False), (signal.SIG_IGN, "pretrain", True)],
)
def test_a_parent_that_is_gone_is_missed_but_under_nohup_that_of_dvc_alone(
    hangup: Callable[[signal.Handlers], object],
    monkeypatch: pytest.MonkeyPatch,
    handler: signal.Handlers,
    stage: str,
    gone: bool,
) -> None:
    """The signals to a stage in tests/jobs/test_executor.py show the same of processes."""
    hangup(handler)
    monkeypatch.setattr("stages.STARTED_BY", os.getppid() + 1)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    if stage:
        monkeypatch.setenv("DVC_STAGE", stage)
    assert parent_is_gone() == gone


HOSTILE = "\x1b[2J\n\u202e" + "x" * 10**6


@pytest.mark.parametrize("error", [UserError(HOSTILE), FileNotFoundError(2, "No such file", HOSTILE)])
def test_a_message_is_one_line_that_a_terminal_can_show(error: Exception) -> None:
    def main() -> None:
        raise error

    line = ended(main)
    assert isinstance(line, str) and line.startswith("error: \\x1b[2J\\n")
    assert line.isprintable() and len(line) == 500


SLOW = """
import time
from pathlib import Path
from stages.system.errors import command

Path("importing").touch()
time.sleep(60)  # torch takes a second
"""


def test_ctrl_c_ends_a_stage_that_still_imports_without_a_traceback(tmp_path: Path) -> None:
    copy_stages(tmp_path)
    (tmp_path / "stages" / "slow.py").write_text(SLOW, encoding="utf-8")
    process = start(tmp_path, "stages.slow")
    while not (tmp_path / "importing").exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("ask", [lambda: torch.empty(2**50), lambda: [0] * 2**60])
def test_a_lack_of_memory_ends_in_one_line(ask: Callable[[], object]) -> None:
    line = "error: there is too little memory; ask for a smaller model, context, batch or number of hypotheses"
    assert ended(lambda: ask() and None) == line


TALKATIVE = """
from stages.system.errors import Parser, command

@command
def main():
    parser = Parser("Print lines.")
    parser.add_argument("lines", type=int)
    for line in range(parser.parse_args().lines):
        print(line, "Zoé ⁇")

main()
"""


@pytest.mark.parametrize(
    ("shell", "shown"),
    [
        ("PYTHONIOENCODING=ascii {} 1", "0 Zo\\xe9 \\u2047\n"),
        ("PYTHONIOENCODING=latin-1 {} 1 | iconv -f latin1 -t utf8", "0 Zoé \\u2047\n"),
        ("{} 100000 | head -1", "0 Zoé ⁇\n"),  # the others have no reader
        ("{} 1 | true", ""),
        ("{} 1 >&-", ""),
        ("{} --help | true", ""),
    ],
)
def test_output_that_nobody_can_read_is_no_traceback(tmp_path: Path, shell: str, shown: str) -> None:
    assert said(tmp_path, shell) == (shown, "")


def test_output_that_a_full_disk_refuses_ends_in_one_line(tmp_path: Path) -> None:
    assert said(tmp_path, "{} 1 >/dev/full") == ("", "error: No space left on device\n")


def said(folder: Path, shell: str) -> tuple[str, str]:
    """What a command writes to stdout and stderr that a shell starts in this way."""
    (folder / "talkative.py").write_text(TALKATIVE, encoding="utf-8")
    command = shell.format(f"{shlex.quote(sys.executable)} talkative.py")
    buffered = environment(PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="")
    ran = subprocess.run(command, shell=True, cwd=folder, env=buffered, capture_output=True, encoding="utf-8")
    return ran.stdout, ran.stderr


def test_what_a_terminal_obeys_is_escaped_and_no_other_character() -> None:
    for letter in map(chr, range(sys.maxunicode + 1)):
        assert (harmless(letter) != letter) == is_obeyed(letter), hex(ord(letter))
