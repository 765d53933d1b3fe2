"""`python -m stages` is the door to what people type."""

import subprocess
import sys

import pytest

from stages.__main__ import COMMANDS
from tests.support.tiny import ROOT


def ended(*arguments: str) -> tuple[int, str, str]:
    ended = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    return ended.returncode, ended.stdout, ended.stderr


def test_alone_it_lists_every_command_that_there_is() -> None:
    code, output, errors = ended("-m", "stages")
    files = {path.stem for path in (ROOT / "stages" / "commands").glob("*.py") if "\n@command\n" in path.read_text()}
    assert (code, errors) == (0, "") and set(COMMANDS) == files
    assert [line.split()[0] for line in output.splitlines() if line.startswith("  ")] == [*COMMANDS]


@pytest.mark.parametrize("command", ["stages ask Who?", "stages.data", "stages.pretrain", "stages.report"])
def test_without_the_environment_a_line_says_how_to_activate_it(command: str) -> None:
    code, output, errors = ended("-S", "-m", *command.split())  # -S: without installed packages
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert errors.startswith("error: No module named '") and errors.endswith("source .venv/bin/activate\n")


def test_an_unknown_command_is_told_with_those_that_there_are() -> None:
    code, output, errors = ended("-m", "stages", "aks")
    assert (code, output) == (1, "")
    assert errors.splitlines()[-1] == f"error: unknown command 'aks'; allowed: {', '.join(COMMANDS)}"
