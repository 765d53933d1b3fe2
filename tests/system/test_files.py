"""A write that fails or is killed leaves the old content, and nothing for long; a table is read as it was written."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.corpus.tables import read_table, write_table
from stages.system.files import new_folder, write_text
from tests.support.tiny import ROOT

TEXTS = st.sampled_from(["NA", "None", "nan", "007", "1e5", "", " ", '"', "a\tb", "a\nb", "#", "True"]) | st.text(
    st.characters(exclude_categories=["C"])
)

# Writes the target named first, and kills itself at the moment named second
WRITER = """
import os, signal, sys
from pathlib import Path
from stages.system.files import new_folder, write_text
target, moment = Path(sys.argv[1]), sys.argv[2]
def end(*_): os.kill(os.getpid(), signal.SIGKILL)
if moment == "file":
    os.fsync = end
    write_text(target, "new")
with new_folder(target) as folder:
    (folder / "a").write_text("new")
    if moment == "folder":
        end()
    replace = os.replace
    os.replace = lambda one, other: (replace(one, other), end())
"""


def write(target: Path, kind: str, content: str) -> None:
    """Write a file, or a folder with one."""
    if kind == "file":
        write_text(target, content)
    else:
        with new_folder(target) as folder:
            (folder / "a").write_text(content, encoding="utf-8")


def read(target: Path) -> str:
    return (target if target.is_file() else target / "a").read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", ["file", "folder", "between the renames"])
def test_what_kills_left_is_gone_with_the_next_write(tmp_path: Path, moment: str) -> None:
    target = tmp_path / "t"
    write(target, moment, "first")
    ended = subprocess.run([sys.executable, "-c", WRITER, str(target), moment], cwd=ROOT)
    assert ended.returncode < 0
    assert [path.name for path in tmp_path.iterdir() if path != target] == [".t.partial"]  # which git and DVC ignore
    if moment != "between the renames":
        assert read(target) == "first"
    write(target, moment, "last")
    assert list(tmp_path.iterdir()) == [target] and read(target) == "last"


@given(texts=st.lists(TEXTS, min_size=1))
def test_text_stays_text_and_numbers_are_numbers(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("some") / "table.tsv"
    table = pd.DataFrame({"row": range(len(texts)), "text": texts})
    write_table(path, table)
    read = read_table(path, {"text": str})
    assert read.text.tolist() == texts and read.row.tolist() == table.row.tolist() and read.row.dtype == int
