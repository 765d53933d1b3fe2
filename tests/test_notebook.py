"""docs/walk.ipynb runs from its first cell to its last, and is stored without what it printed."""

import shutil
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient

from tests.support.tiny import BIRTHPLACES, ROOT

NOTEBOOK = ROOT / "docs" / "walk.ipynb"


def test_it_loads_asks_looks_trains_and_changes_the_mixer(project: Path) -> None:
    (project / "docs").mkdir(exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", project)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:  # the only variant that the project trained
        cell.source = cell.source.replace('"rope"', '"vanilla"')
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(project / "docs")}}).execute()

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output["text"] for output in outputs if output.output_type == "stream")
    asked = [line for line in printed.splitlines() if "in truth:" in line]
    assert len(asked) == 5
    for line in asked:  # a model that knows its eight people by heart
        name, place = next(person for person in BIRTHPLACES.items() if person[0] in line)
        assert line.count(f" {place}") == 2, (name, line)
    first, last = printed.splitlines()[-1].split(" → ")
    assert float(last) < float(first)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


def test_it_is_stored_without_outputs_and_clones_the_address_that_the_citation_has() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert f'REPOSITORY = "{citation["repository-code"]}"' in code[0].source
