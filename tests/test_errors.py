"""How a command ends: one line and an exit code."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from stages.system.errors import StudyError, command
from stages.system.files import new_folder
from tests.project import copy_stages, start


def ended(main: Callable[[], None]) -> object:
    with pytest.raises(SystemExit) as end:
        command(main)()
    return end.value.code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_in_one_line_and_leaves_nothing_half_written(
    number: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        with new_folder(tmp_path / "made") as folder:
            (folder / "half").write_text("half", encoding="utf-8")
            signal.raise_signal(number)

    before = signal.getsignal(signal.SIGTERM)
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal, also where tests run without
    try:
        assert ended(main) == 130
    finally:
        signal.signal(signal.SIGINT, ignored)
    assert capsys.readouterr().err == "stopped\n"
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


SLOW = """
import signal
import time
from pathlib import Path
from stages.system.errors import command

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal, also where tests run without
Path("importing").touch()
time.sleep(1)  # as torch takes

@command
def main():
    Path("began").touch()
    time.sleep(60)

main()
"""


@pytest.mark.parametrize("reached", ["importing", "began"])
def test_ctrl_c_ends_in_one_line_while_a_stage_imports_what_it_needs_and_after(tmp_path: Path, reached: str) -> None:
    copy_stages(tmp_path)
    (tmp_path / "stages" / "slow.py").write_text(SLOW, encoding="utf-8")
    process = start(tmp_path, "stages.slow")
    while not (tmp_path / reached).exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "stopped\n")
    assert (tmp_path / "began").exists() == (reached == "began")


@pytest.mark.parametrize(
    ("ask", "told"),
    [(lambda: torch.empty(2**50), " (4503599627370496 bytes more were asked for)"), (lambda: [0] * 2**60, "")],
)
def test_a_lack_of_memory_ends_in_one_line(ask: Callable[[], object], told: str) -> None:
    def main() -> None:
        ask()

    line = ended(main)
    assert isinstance(line, str) and "\n" not in line
    assert line.startswith(f"error: there is too little memory{told}; ask for a smaller model")


def test_another_failure_of_torch_is_not_taken_for_one_of_memory() -> None:
    def main() -> None:
        torch.empty(2) @ torch.empty(3)

    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        command(main)()


def test_a_mistake_ends_in_one_line() -> None:
    def main() -> None:
        raise StudyError("params.yaml: recipe: was 'x'; allowed: quick")

    assert ended(main) == "error: params.yaml: recipe: was 'x'; allowed: quick"


def test_a_full_disk_ends_in_one_line_with_its_file() -> None:
    def main() -> None:
        raise OSError(28, "No space left on device", "work/seed-1.checkpoint")

    assert ended(main) == "error: work/seed-1.checkpoint: No space left on device"
