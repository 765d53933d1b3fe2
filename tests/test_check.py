"""Stage `check`: what cannot be trained is told in one line before anything begins."""

from pathlib import Path
from typing import Any

import pytest

from stages import check
from tests.support.project import copy_stages, start, write_params
from tests.support.talking import Run, error
from tests.support.tiny import ROOT


def test_the_committed_file_is_valid(tmp_path: Path, run_in: Run) -> None:
    assert run_in(ROOT, check, "--stamp", str(tmp_path / "stamp.txt")).code == 0
    assert (tmp_path / "stamp.txt").is_file()


@pytest.mark.parametrize(
    ("selection", "values", "message"),
    [
        ("compared", {"variants.rope": {"thet": 1.0}}, "variants.rope.thet: unknown key; did you mean 'theta'?"),
        ("compared", {"recipes.quick.model.heads": 32}, "variants.rope: rotary positions need an even head size"),
        (
            "rope",
            {"recipe": "own", "sources.own.folder": "docs/own"},
            "sources.own.folder: there is no docs/own/pages.txt; name a folder with pages.txt",
        ),
        ("all", {"variants.perceiver.bottleneck": 200}, "variants.perceiver: bottleneck 200 exceeds model.context 128"),
    ],
)
def test_every_selected_cell_is_built_once_before_any_trains(
    tmp_path: Path, run_in: Run, selection: str, values: dict[str, Any], message: str
) -> None:
    write_params(tmp_path, values={"recipe": "quick", "model.variant": selection, **values})
    assert error(run_in(tmp_path, check, "--stamp", "stamp.txt")).startswith(f"error: params.yaml: {message}")
    assert not (tmp_path / "stamp.txt").exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("\n\ndef mix(:\n", "draft.py: SyntaxError: invalid syntax (draft.py, line 3)"),
        (
            "from stages.model.mixer import Mixer\nclass Draft(Mixer):\n    empty_state = mix = None\n"
            "    def __init__(self, model, settings, layer):\n        self.x = y\n",
            "draft.py: line 5: NameError",
        ),
    ],
)
def test_a_fault_in_the_file_of_a_selected_variant_is_told_with_its_line(
    tmp_path: Path, code: str, message: str
) -> None:
    copy_stages(tmp_path)
    write_params(tmp_path, values={"recipe": "quick", "model.variant": "draft", "variants.draft": {}})
    (tmp_path / "stages/mixers/draft.py").write_text(code)
    ended = start(tmp_path, "stages.check")
    _, errors = ended.communicate(timeout=60)
    assert ended.returncode == 1 and message in errors and errors.count("\n") == 1
