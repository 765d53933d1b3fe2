"""params.yaml: the committed file is valid, and every fault in it is one line that names its key."""

import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import parse_yaml

from stages.check import main
from stages.settings import Settings, load
from stages.settings.bounded_yaml import read_yaml
from stages.settings.section import check
from stages.system.errors import StudyError
from tests.project import GONE, write_params
from tests.tiny import ROOT, TITLE_CLOZE, params


def fault(folder: Path) -> str:
    """The message, after its path, of a file that must be refused, checked to be one line."""
    path = folder / "params.yaml"
    with pytest.raises(StudyError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message and len(message) < 400
    return message.removeprefix(str(path))


def test_the_committed_file_is_valid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["check", "--stamp", str(tmp_path / "stamp.txt")])
    main()
    assert (tmp_path / "stamp.txt").is_file()


def test_keys_are_checked_without_torch() -> None:
    code = "import sys; from stages.check import main; main(); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"torch", "stages.model"} & {*ended.stdout.split()}


HANDOUT, TEXT, DROPOUT = "recipes.handout", "recipes.text", "ablation.changes.dropout"
ASKED_OF_PAGES, ASKED_OF_TEXT = f"{HANDOUT}.pretrain.objectives", f"{TEXT}.pretrain.objectives"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        # an unknown key, a missing one
        ("colour", "red", ["colour: unknown key"]),
        ("\x1b[2J", "red", ["\\x1b[2J: unknown key"]),
        (f"{TEXT}.finetune", {}, [f"{TEXT}.finetune: unknown key"]),
        ("compute", GONE, ["compute: this key is missing"]),
        (f"{HANDOUT}.data", GONE, [f"{HANDOUT}.data: this key is missing"]),
        # another type, whatever could be made of it
        (f"{HANDOUT}.model.layers", "four", [f"{HANDOUT}.model.layers: was 'four'", "integer"]),
        (f"{HANDOUT}.model.layers", 4.0, [f"{HANDOUT}.model.layers: was 4.0", "integer"]),
        (HANDOUT, None, [f"{HANDOUT}: was None"]),
        # an impossible value
        (f"{HANDOUT}.finetune.learning_rate", float("nan"), [f"{HANDOUT}.finetune.learning_rate: was nan"]),
        (f"{HANDOUT}.model.dropout", 1.5, [f"{HANDOUT}.model.dropout: was 1.5", "less than 1"]),
        (f"{HANDOUT}.baseline.place", " ", [f"{HANDOUT}.baseline.place: was ' '"]),
        (f"{HANDOUT}.generation.max_characters", 129, [HANDOUT, "max_characters 129", "context 128"]),
        (f"{HANDOUT}.seeds", [], [f"{HANDOUT}.seeds: was []"]),
        (f"{HANDOUT}.data.source", "x" * 500, [f"{HANDOUT}.data.source: was 'xxx", "…"]),
        # keys that do not go together
        (f"{HANDOUT}.model.heads", 7, [f"{HANDOUT}.model: width 256", "heads 7"]),
        (f"{HANDOUT}.seeds", [1, 2, 1], [HANDOUT, "seeds [1, 2, 1]", "distinct"]),
        (f"{HANDOUT}.model.context", 64, [HANDOUT, "longest_document 112", "context 64", "at most 63"]),
        (f"{ASKED_OF_PAGES}.span_corruption.shortest_document", 113, ["shortest_document 113 exceeds 112"]),
        (ASKED_OF_PAGES, {}, [f"{ASKED_OF_PAGES}: no objective", "causal_lm"]),
        (ASKED_OF_PAGES, {"causal_lm": {"mixture_weight": 1.0}}, [HANDOUT, "causal_lm: pages do not go on"]),
        (ASKED_OF_TEXT, {"title_cloze": TITLE_CLOZE.model_dump()}, [TEXT, "title_cloze: a text has no pages"]),
        (f"{ASKED_OF_TEXT}.causal_lm.mixture_weight", 0.5, ["pretrain.objectives", "sum to 0.5"]),
        ("recipe", "text", ["recipe: was 'text'; allowed: quick, handout, open"]),
        ("model.variant", "nonsense", ["model.variant: was 'nonsense'", "compared, all, vanilla"]),
        ("study.asked", ["quick", "quick"], ["study.asked: 'quick'", "with questions once", "open"]),
        ("study.compared", ["rope", "rope"], ["study.compared: was ['rope', 'rope']", "each once"]),
        ("variants.unused", {}, ["study.variants: 'unused'"]),
        ("sources.cs224n.sha256", {}, ["sources.cs224n", "wiki.txt"]),
        ("study.recipes", ["quick", "method"], ["study.recipes: 'method' is a name that the study itself uses"]),
        ("study.variants", ["rope", "baseline"], ["study.variants: 'baseline' is a name that the study itself uses"]),
        ("grid.recipe", "quick", ["grid.recipe: was 'quick'; allowed: text"]),
        ("cost.lengths", [128, 64], ["cost: lengths [128, 64] do not ascend"]),
        ("influence.settings.percever", [], ["influence.settings: 'percever' has no file"]),
        ("ablation.changes.full", {"model": {"dropout": 0.5}}, ["ablation.changes.full: allowed: {}"]),
        (DROPOUT, {"model": {"dropout": 0.0}}, [f"{DROPOUT}: changes nothing"]),
        (DROPOUT, {"model": {"drop": 1}}, [f"{DROPOUT}.model.drop: unknown key"]),
        (DROPOUT, {"seeds": [1, 2]}, [f"{DROPOUT}.seeds", "model, optimizer"]),
        (DROPOUT, {"model": {"context": 64}}, [f"{DROPOUT}.model.context"]),
    ],
)
def test_a_fault_is_one_line_that_names_its_key(tmp_path: Path, key: str, value: Any, told: list[str]) -> None:
    write_params(tmp_path, values={key: value})
    message = fault(tmp_path)
    assert [part for part in told if part not in message] == []


def numbers(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all numbers in a file's content."""
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from numbers(value, (*path, key))
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield path


@pytest.mark.parametrize("huge", [10**13, 1e30], ids=str)
def test_every_number_has_a_largest_value(huge: float) -> None:
    paths = [path for path in numbers(params()) if path[0] not in ("variants", "influence")]  # the mixers check those
    assert len(paths) > 150
    for *path, last in paths:
        content = params()
        reduce(getitem, path, content)[last] = huge
        key = next(part for part in (last, *reversed(path)) if isinstance(part, str))
        with pytest.raises(StudyError, match=key):
            check(Settings, content, "params.yaml", prefix="")


def test_several_faults_are_counted(tmp_path: Path) -> None:
    write_params(tmp_path, values={f"{HANDOUT}.model.layers": 0, f"{HANDOUT}.model.heads": 0, "recipe": GONE})
    assert fault(tmp_path).endswith(" (and 2 more)")


@pytest.mark.parametrize("written", ["3e-3", "010", "1:30", "No", "on", "~", "0o17", "1_000", ".5"])
def test_a_value_is_what_dvc_reads(tmp_path: Path, written: str) -> None:
    text = f"key: {written}\n"
    (tmp_path / "params.yaml").write_text(text, encoding="utf-8")
    assert read_yaml(tmp_path / "params.yaml") == parse_yaml(text, "params.yaml")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"recipe: quick\nmodel: [all\nstudy: {}\n", ":3: not valid here"),
        (b"recipe: \xff\n", ": not valid YAML"),
        (b"- quick\n", ": the file"),
        (b"", ": the file"),
        (None, " is missing here"),
    ],
)
def test_a_file_that_is_no_settings_at_all_is_told_in_one_line(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    if content is not None:
        (tmp_path / "params.yaml").write_bytes(content)
    assert fault(tmp_path).startswith(told)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{this}: &{this} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, this in zip("abcdefgh", "bcdefghi", strict=True)  # 9⁹ values
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (BOMB, ":1: not valid here: an anchor or alias"),
        ("recipe: !!bool x\n", ":1: not valid here: the tag 'tag:yaml.org,2002:bool'"),
        ("recipe: !!timestamp x\n", ":1: not valid here: the tag"),
        ("recipe: !!python/object:os.system x\n", ":1: not valid here: the tag"),
        ("recipe: " + "[" * 3000 + "]" * 3000 + "\n", ":1: not valid here: more than 32"),
        ("{a: " * 900 + "1" + "}" * 900, ":1: not valid here: more than 32"),
        (f"recipe: 0x{'f' * 5000}\n", ":1: not valid here: a number of 5002 characters"),
        (f"recipe: 0o{'7' * 5000}\n", ":1: not valid here: a number of 5002 characters"),
        (f"recipe: {'9' * 5000}\n", ":1: not valid here: a number of 5000 characters"),
        ("recipe: quick\nmodel: {}\nrecipe: open\n", ':3: not valid here: found duplicate key "recipe"'),
        ("recipe: 2021-99-99\n", ": not valid YAML: month must be in 1..12"),
        ("\x1b[2J: 1\n", ": not valid YAML"),
        ("x" * 2_000_000, " has more than 1000000 bytes"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_yaml_that_means_harm_is_refused_in_one_line_at_once(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "params.yaml").write_text(content, encoding="utf-8")
    message = fault(tmp_path)
    assert message.startswith(told) and message.isprintable()
