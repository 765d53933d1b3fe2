"""The notebooks of docs/ run from their first cell to their last."""

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.support.tiny import ROOT


def run(name: str, folder: Path, **replaced: str) -> None:
    """Run a notebook of docs/ in a folder, with other words in its cells."""
    notebook = nbformat.read(ROOT / "docs" / name, as_version=4)
    for cell in notebook.cells:
        for word, other in replaced.items():
            cell.source = cell.source.replace(f'"{word}"', f'"{other}"')
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()


def test_the_walk_runs_in_a_project_that_trained_a_model(project: Path) -> None:
    (project / "docs").mkdir(exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", project)
    run("walk.ipynb", project / "docs", rope="vanilla")  # the only variant that the project trained


def test_attention_by_hand_runs_anywhere(tmp_path: Path) -> None:
    run("attention.ipynb", tmp_path)
