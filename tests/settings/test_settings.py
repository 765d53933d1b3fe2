"""params.yaml: the committed file is valid, and every fault in it is one line that names its key."""

import os
import shutil
from contextlib import chdir
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import parse_yaml

from stages.settings.params import load
from stages.settings.section import read_yaml
from stages.system.errors import UserError
from tests.support.project import GONE, write_params
from tests.support.tiny import ROOT, TITLE_CLOZE, params


def fault(folder: Path) -> str:
    """The message, after its path, of a file that must be refused, checked to be one line."""
    with chdir(folder), pytest.raises(UserError) as caught:
        load()
    message = str(caught.value)
    assert message.startswith("params.yaml")
    assert "\n" not in message and len(message) < 400
    return message.removeprefix("params.yaml")


@pytest.mark.skipif("PUBLISHED" not in os.environ, reason="a params.yaml of one's own may be laid out otherwise")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.variant", "random_synthesizer"),
        ("sources.own.folder", "my_folder"),
        ("recipes.quick.pretrain.epochs", "36"),
        ("recipes.text.pretrain.schedule.decay_epochs", "3"),
        ("recipes.quick.report.dev_asked_before", "4"),
    ],
)
def test_dvc_changes_one_line_for_one_key_and_takes_it_back(tmp_path: Path, key: str, value: str) -> None:
    path = Path(shutil.copy(ROOT / "params.yaml", tmp_path))
    before = path.read_text(encoding="utf-8").splitlines()
    old = reduce(getitem, key.split("."), params())
    apply_overrides(path, [f"{key}={value}"])
    after = path.read_text(encoding="utf-8").splitlines()
    assert len(after) == len(before)
    assert sum(first != second for first, second in zip(before, after, strict=True)) == 1
    apply_overrides(path, [f"{key}={'null' if old is None else old}"])
    assert path.read_text(encoding="utf-8").splitlines() == before


HANDOUT = "recipes.handout"
TEXT = "recipes.text"
ASKED_OF_PAGES = f"{HANDOUT}.pretrain.objectives"
ASKED_OF_TEXT = f"{TEXT}.pretrain.objectives"


@pytest.mark.parametrize(
    ("key", "value", "parts"),
    [
        # an unknown key, a missing one
        ("colour", "red", ["colour: unknown key"]),
        (f"{TEXT}.finetune", {}, [f"{TEXT}.finetune: unknown key"]),
        ("compute", GONE, ["compute: this key is missing"]),
        (f"{HANDOUT}.model", {"layer": 4}, [f"{HANDOUT}.model.layer: unknown key; did you mean 'layers'?"]),
        (f"{TEXT}.pretrain.schedule.warmup_tokens", 10, [f"{TEXT}.pretrain.schedule: allowed: warmup_tokens or"]),
        # another type, whatever could be made of it
        (f"{HANDOUT}.model.layers", "four", [f"{HANDOUT}.model.layers: was 'four'", "integer"]),
        # an impossible value
        (f"{HANDOUT}.finetune.learning_rate", float("nan"), [f"{HANDOUT}.finetune.learning_rate: was nan"]),
        (f"{HANDOUT}.model.dropout", 1.5, [f"{HANDOUT}.model.dropout: was 1.5", "less than 1"]),
        (f"{HANDOUT}.generation.max_characters", 129, [HANDOUT, "max_characters 129", "context 128"]),
        # keys that do not go together
        (f"{HANDOUT}.model.heads", 7, [f"{HANDOUT}.model: width 256", "heads 7"]),
        (f"{HANDOUT}.seeds", [1, 2, 1], [f"{HANDOUT}.seeds: was [1, 2, 1]; allowed: distinct ones"]),
        (f"{HANDOUT}.model.context", 64, [HANDOUT, "longest_document 112", "context 64", "at most 63"]),
        (f"{ASKED_OF_PAGES}.span_corruption.shortest_document", 113, ["shortest_document 113 exceeds 112"]),
        (ASKED_OF_PAGES, {}, [f"{ASKED_OF_PAGES}: no objective", "causal_lm"]),
        (ASKED_OF_PAGES, {"causal_lm": {"mixture_weight": 1.0}}, [HANDOUT, "causal_lm: pages do not go on"]),
        (ASKED_OF_TEXT, {"title_cloze": TITLE_CLOZE.model_dump()}, [TEXT, "title_cloze: a text has no pages"]),
        (f"{ASKED_OF_TEXT}.causal_lm.mixture_weight", 0.5, ["pretrain.objectives", "sum to 0.5"]),
        ("model.variant", "nonsense", ["model.variant: was 'nonsense'", "compared, all, vanilla"]),
        ("recipe", "rope", ["recipe: was 'rope'; allowed: quick, handout, unaided, open, own, text, pairs"]),
        ("compute.cluster", "host:8786", ["compute.cluster: was 'host:8786'"]),
        ("variants.unused", {}, ["variants: 'unused' has no file"]),
        (f"{ASKED_OF_TEXT}.pairs", {"mixture_weight": 0.0}, ["pairs: source text has nothing to ask so"]),
        (f"{HANDOUT}.data.question", "Where was she born?", [f"{HANDOUT}.data.question: was 'Where was she born?'"]),
    ],
)
def test_a_fault_is_one_line_that_names_its_key(tmp_path: Path, key: str, value: Any, parts: list[str]) -> None:
    write_params(tmp_path, values={key: value})
    message = fault(tmp_path)
    assert [part for part in parts if part not in message] == []
    assert "give it a section" not in message


def test_a_selected_mixer_without_a_section_is_told_to_get_one(tmp_path: Path) -> None:
    write_params(tmp_path, values={"variants.wrnn": GONE, "model.variant": "wrnn"})
    assert "stages/mixers/wrnn.py is there: give it a section" in fault(tmp_path)


def test_several_faults_are_counted(tmp_path: Path) -> None:
    write_params(tmp_path, values={f"{HANDOUT}.model.layers": 0, f"{HANDOUT}.model.heads": 0, "recipe": GONE})
    assert fault(tmp_path).endswith(" (and 2 more)")


@pytest.mark.parametrize("written", ["3e-3", "1e-05", "010", "1:30", "No", "on", "~", "0o17", "1_000", ".5"])
def test_a_value_is_what_dvc_reads(tmp_path: Path, written: str) -> None:
    text = f"key: {written}\n"
    (tmp_path / "params.yaml").write_text(text, encoding="utf-8")
    assert read_yaml(tmp_path / "params.yaml") == parse_yaml(text, "params.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"recipe: quick\nmodel: [all\nstudy: {}\n", ":3: not valid here"),
        (b"recipe: quick\nmodel: {}\nrecipe: open\n", ':3: not valid here: found duplicate key "recipe"'),
        (b"recipe: quick\n\tmodel: b\n", ":2: not valid here: found a tab"),
        (
            b"recipe: two things: less\n",
            ":1: not valid here: mapping values are not allowed in this context; quote a text that has a colon",
        ),
        (b"recipe: \xff\n", ": not valid YAML"),
        (b"recipe: 2021-99-99\n", ": not valid YAML: month must be in 1..12"),
        (b"- quick\n", ": the file"),
        (b"", ": the file"),
        (None, " is missing here"),
    ],
)
def test_a_file_that_is_no_settings_at_all_is_told_in_one_line(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "params.yaml").write_bytes(content)
    assert fault(tmp_path).startswith(message)
