"""Stage `check`: what cannot be trained is told in one line before anything begins."""

from pathlib import Path
from typing import Any

import pytest

from stages.check import main
from tests.support.project import copy_stages, start, write_params
from tests.support.tiny import ROOT


def test_the_committed_file_is_valid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["check", "--stamp", str(tmp_path / "stamp.txt")])
    main()
    assert (tmp_path / "stamp.txt").is_file()


def refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What stage `check` says of a folder's params.yaml, in one line, with no stamp left."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["check", "--stamp", "stamp.txt"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert isinstance(caught.value.code, str) and "\n" not in caught.value.code
    assert not (folder / "stamp.txt").exists()
    return caught.value.code


@pytest.mark.parametrize(
    ("selection", "values", "message"),
    [
        ("compared", {"variants.rope": {"thet": 1.0}}, "variants.rope.thet: unknown key; did you mean 'theta'?"),
        ("compared", {"recipes.quick.model.heads": 32}, "variants.rope: rotary positions need an even head size"),
        ("all", {"variants.perceiver.bottleneck": 200}, "variants.perceiver: bottleneck 200 exceeds model.context 128"),
    ],
)
def test_every_selected_cell_is_built_once_before_any_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selection: str, values: dict[str, Any], message: str
) -> None:
    write_params(tmp_path, values={"recipe": "quick", "model.variant": selection, **values})
    assert f"error: params.yaml: {message}" in refused(tmp_path, monkeypatch)


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

    def draft(content: dict[str, Any]) -> None:
        content["recipe"], content["model"]["variant"] = "quick", "draft"
        content["variants"]["draft"] = {}

    write_params(tmp_path, draft)
    (tmp_path / "stages/mixers/draft.py").write_text(code)
    ended = start(tmp_path, "stages.check")
    _, errors = ended.communicate(timeout=60)
    assert ended.returncode == 1 and message in errors and errors.count("\n") == 1
