"""Weights that mean something else by now are refused."""

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from stages import evaluate, finetune
from stages.commands import ask
from stages.corpus.prepared import Prepared
from stages.experiment.trained import load_model
from stages.system.errors import StudyError
from tests.support.project import restored, save_prepared, with_content
from tests.support.talking import ZOE, ChangeParams, Run, error
from tests.support.tiny import DOCUMENTS, SPLITS

PROVENANCE = Path("data/weights/quick/vanilla/finetuned/provenance.json")
REFUSED = (
    "quick/vanilla/finetuned was trained with another {}; train anew with: dvc repro stages/dvc.yaml:finetune@quick-"
)


def test_weights_of_another_shape_are_refused_though_they_would_fit(run: Run, change: ChangeParams) -> None:
    change({"recipes.quick.model.heads": 4})
    assert REFUSED.format("recipe.model.heads") in error(run(ask, ZOE))
    change({"recipes.quick.model.dropout": 0.5})  # matters in training alone
    assert run(ask, ZOE).code == 0


def test_weights_of_other_settings_are_refused(run: Run, project: Path) -> None:
    record = json.loads((project / PROVENANCE).read_text())
    record["settings"]["variant"]["vanilla"] = {"theta": 50.0}
    with with_content(project / PROVENANCE, json.dumps(record).encode()):
        assert REFUSED.format("variant.vanilla") in error(run(ask, ZOE))


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1 - 1e-5])
def test_weights_that_are_cut_off_are_refused(run: Run, project: Path, share: float) -> None:
    path = project / PROVENANCE.with_name("pretrained-seed-1.safetensors")
    content = path.read_bytes()
    with with_content(path, content[: int(share * len(content))]):
        line = error(run(ask, ZOE))
    assert "pretrained-seed-1.safetensors is damaged (" in line and line.endswith("; delete it and run `dvc repro`")


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    prepared = project / "data/prepared/quick"
    with restored(prepared):
        save_prepared(prepared, Prepared.of([*DOCUMENTS, "Zed. Ω"], SPLITS))
        assert REFUSED.format("vocabulary") in error(run(ask, ZOE))


@pytest.mark.parametrize(
    ("stage", "folder"), [(finetune, "pretrained"), (evaluate, "pretrained"), (evaluate, "finetuned")]
)
def test_no_stage_takes_the_weights_of_another_cell(run: Run, project: Path, stage: ModuleType, folder: str) -> None:
    weights, rope = project / "data/weights/quick", project / "data/weights/quick/rope"
    with restored(weights):
        shutil.copytree(weights / "vanilla", rope)
        if folder == "finetuned":  # those before it are right
            path = rope / "pretrained/provenance.json"
            record = json.loads(path.read_text())
            record["settings"]["variant"] = {"rope": {"theta": 10_000.0}}
            path.write_text(json.dumps(record))
        line = error(run(stage, "--recipe", "quick", "--variant", "rope"))
    assert f"rope/{folder} was trained with another variant.rope" in line


def test_a_program_loads_a_model_by_its_name(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    model, vocabulary = load_model("quick", "vanilla")
    assert not model.training and model.embedding.weight.shape[0] == len(vocabulary)
    with pytest.raises(StudyError, match="recipe 'text' has no questions"):
        load_model("text", "vanilla")
