"""Weights that mean something else by now are refused."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stages.commands import ask
from stages.corpus.prepared import Prepared
from tests.support.project import restored, save_prepared
from tests.support.talking import ZOE, ChangeParams, Run, error
from tests.support.tiny import DOCUMENTS, SPLITS

RECORD = Path("vanilla/seed-1/record.json")
TRAINED = Path("data/finetuned/quick/vanilla") / RECORD
REFUSED = "quick/vanilla/vanilla/seed-1 was trained with another {}; make it with: dvc exp run -S recipe=quick -S "


@contextmanager
def with_content(path: Path, content: bytes) -> Iterator[None]:
    """A file with another content while the block runs."""
    with restored(path.parent):
        path.write_bytes(content)
        yield


def test_weights_of_another_shape_are_refused_though_they_would_fit(run: Run, change: ChangeParams) -> None:
    change({"recipes.quick.model.heads": 4})
    assert REFUSED.format("recipe.model.heads") in error(run(ask, ZOE))
    change({"recipes.quick.model.dropout": 0.5})  # matters in training alone
    assert run(ask, ZOE).code == 0


def test_weights_of_other_settings_are_refused(run: Run, project: Path) -> None:
    record = json.loads((project / TRAINED).read_text())
    record["settings"]["variant"]["vanilla"] = {"theta": 50.0}
    with with_content(project / TRAINED, json.dumps(record).encode()):
        assert REFUSED.format("variant.vanilla") in error(run(ask, ZOE))
    record = json.loads((project / TRAINED).read_text())
    del record["settings"]["recipe"]["model"]["heads"]  # a setting that came later
    with with_content(project / TRAINED, json.dumps(record).encode()):
        assert REFUSED.format("recipe.model.heads") in error(run(ask, ZOE))


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1 - 1e-5])
def test_weights_that_are_cut_off_are_refused(run: Run, project: Path, share: float) -> None:
    path = project / TRAINED.with_name("pretrained.safetensors")
    content = path.read_bytes()
    with with_content(path, content[: int(share * len(content))]):
        line = error(run(ask, ZOE))
    assert "pretrained.safetensors is damaged (" in line and line.endswith("; delete it and run `dvc repro`")


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    prepared = project / "data/prepared/quick"
    with restored(prepared):
        save_prepared(prepared, Prepared.of([*DOCUMENTS, "Zed. Ω"], SPLITS))
        assert REFUSED.format("vocabulary") in error(run(ask, ZOE))


def test_of_a_model_trained_for_several_selections_the_one_with_todays_settings_is_taken(
    run: Run, project: Path, change: ChangeParams
) -> None:
    finetuned = project / "data/finetuned/quick"
    with restored(finetuned):
        shutil.copytree(finetuned / "vanilla", finetuned / "compared")  # which is selected, and goes first
        facts = finetuned / "compared" / RECORD
        facts.write_text(facts.read_text().replace('"heads": 2', '"heads": 4'))
        own = run(ask, ZOE)
        change({"recipes.quick.model.heads": 4})
        other = run(ask, ZOE)
    assert own.code == other.code == 0 and own.out != other.out
