"""What the test suite tells beside the tests' own result."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import environment
from tests.tiny import ROOT

TESTS = """
def test_that_passes(record_property):
    record_property("killed", "pretrain: killed 20 times")
    record_property("other", "not to be told")

def test_that_fails(record_property):
    record_property("killed", "finetune: killed 3 times")
    assert False
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_how_often_trainings_were_killed_is_told_even_of_tests_that_pass(tmp_path: Path, processes: str) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_two.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", processes, "--rootdir", str(tmp_path), str(tmp_path)]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    lines = ended.stdout.splitlines()
    assert {"pretrain: killed 20 times", "finetune: killed 3 times"} <= {*lines}
    assert "not to be told" not in lines
    assert "1 failed, 1 passed" in lines[-1]
