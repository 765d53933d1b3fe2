"""Stage `pretrain`: what cannot be trained is told in one line before any job begins."""

from pathlib import Path
from typing import Any

import pytest

from stages import pretrain
from tests.support.project import copy_stages, save_prepared, start, write_params
from tests.support.talking import Run, error


@pytest.mark.parametrize(
    ("selection", "values", "message"),
    [
        ("compared", {"variants.rope": {"thet": 1.0}}, "variants.rope.thet: unknown key; did you mean 'theta'?"),
        ("compared", {"recipes.quick.model.heads": 32}, "variants.rope: rotary positions need an even head size"),
        ("all", {"variants.perceiver.bottleneck": 200}, "variants.perceiver: bottleneck 200 exceeds model.context 128"),
        ("all", {"recipes.quick.model.layers": 1}, "variants.perceiver: its first and its last block are two"),
    ],
)
def test_every_selected_variant_is_built_once_before_any_trains(
    tmp_path: Path, run_in: Run, selection: str, values: dict[str, Any], message: str
) -> None:
    save_prepared(tmp_path / "data/prepared/quick")
    write_params(tmp_path, values={"model.variant": selection, **values})
    outcome = run_in(tmp_path, pretrain)
    *_, line = outcome.err.splitlines()  # below the bar
    assert outcome.code == 1 and line.startswith(f"error: params.yaml: {message}")
    assert not (tmp_path / "work").exists()


def test_data_that_are_not_prepared_are_told_with_what_makes_them(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, values={"model.variant": "rope"})
    assert error(run_in(tmp_path, pretrain)) == "error: data/prepared/quick is missing; `dvc repro` makes it"


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
    save_prepared(tmp_path / "data/prepared/quick")
    write_params(tmp_path, values={"model.variant": "draft", "variants.draft": {}})
    (tmp_path / "stages/mixers/draft.py").write_text(code)
    ended = start(tmp_path, "stages.pretrain")
    _, errors = ended.communicate(timeout=60)
    *_, line = errors.splitlines()  # below the bar
    assert ended.returncode == 1 and message in line and "Traceback" not in errors
    assert not (tmp_path / "work").exists()
