"""params.yaml: the committed file is valid, and every fault in it is one line that names its key."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import parse_yaml

from stages.check import main
from stages.settings import Settings, load
from stages.settings.bounded_yaml import read_yaml
from stages.settings.section import check
from stages.system.errors import StudyError
from tests.support.project import GONE, copy_stages, git, start, write_params
from tests.support.tiny import ROOT, TITLE_CLOZE, params


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
    ("selection", "values", "told"),
    [
        ("window", {"variants.window.width": 0}, "variants.window.width: was 0; input should be greater than 0"),
        ("compared", {"variants.rope": {"thet": 1.0}}, "variants.rope.thet: unknown key; did you mean 'theta'?"),
        ("compared", {"recipes.quick.model.heads": 32}, "variants.rope: rotary positions need an even head size"),
        ("all", {"variants.perceiver.bottleneck": 200}, "variants.perceiver: bottleneck 200 exceeds model.context 128"),
        ("vanilla", {"variants.vanilla.colour": "red"}, "variants.vanilla.colour: unknown key; remove it; known: none"),
    ],
)
def test_every_selected_cell_is_built_once_before_any_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selection: str, values: dict[str, Any], told: str
) -> None:
    write_params(tmp_path, values={"recipe": "quick", "model.variant": selection, **values})
    assert f"error: params.yaml: {told}" in refused(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("class Other:\n    pass\n", "draft.py defines no subclass of `Mixer`"),
        ("\n\ndef mix(:\n", "draft.py: SyntaxError: invalid syntax (draft.py, line 3)"),
        ("\nimport nonsense\n", "draft.py: line 2: ModuleNotFoundError: No module named 'nonsense'"),
        (
            "from stages.model.mixer import Mixer\nclass Draft(Mixer):\n    empty_state = mix = None\n"
            "    def __init__(self, model, settings, layer):\n        self.x = y\n",
            "draft.py: line 5: NameError",
        ),
    ],
)
def test_a_fault_in_the_file_of_a_selected_variant_is_told_with_its_line(tmp_path: Path, code: str, told: str) -> None:
    copy_stages(tmp_path)

    def draft(content: dict[str, Any]) -> None:
        content["recipe"], content["model"]["variant"] = "quick", "draft"
        content["variants"]["draft"] = {}

    write_params(tmp_path, draft)
    (tmp_path / "stages/mixers/draft.py").write_text(code)
    ended = start(tmp_path, "stages.check")
    _, told_of = ended.communicate(timeout=60)
    assert ended.returncode == 1 and told in told_of and told_of.count("\n") == 1


def test_an_error_names_the_way_back_to_the_last_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(tmp_path)
    before = params()
    git(tmp_path, "init")
    git(tmp_path, "add", "params.yaml")
    git(tmp_path, "commit", "--message", "As it was")
    changes = {"recipes.quick.seeds": [1, 1], "recipes.quick.baseline.place": "New York"}
    write_params(tmp_path, values=changes)
    told = refused(tmp_path, monkeypatch)
    for key in changes:
        value = reduce(getitem, key.split("."), before)
        written = value if isinstance(value, str) else json.dumps(value)
        assert f" -S {shlex.quote(f'{key}={written}')}" in told
    _, _, options = told.partition("back to the last commit's values: ")
    apply_overrides(tmp_path / "params.yaml", [each for each in shlex.split(options) if each != "-S"])
    assert parse_yaml((tmp_path / "params.yaml").read_text(), "params.yaml") == before


@pytest.mark.skipif("PUBLISHED" not in os.environ, reason="a params.yaml of one's own may be laid out otherwise")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.variant", "random_synthesizer"),
        ("recipe", "handout"),
        ("sources.own.folder", "my_folder"),
        ("recipes.quick.pretrain.epochs", "36"),
        ("recipes.text.pretrain.schedule.decay_epochs", "3"),
        ("recipes.quick.report.dev_asked_before", "4"),
        ("recipes.own.baseline.place", "Rome"),
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


HANDOUT, TEXT, DROPOUT = "recipes.handout", "recipes.text", "ablation.changes.dropout"
READER = "article.models.with_reader"
TEXT_RECIPE = params()["recipes"]["text"]
WORD_CLOZE = params()["recipes"]["open"]["pretrain"]["objectives"]["word_cloze"]
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
        (f"{HANDOUT}.model", {"layer": 4}, [f"{HANDOUT}.model.layer: unknown key; did you mean 'layers'?"]),
        (f"{TEXT}.pretrain.schedule.warmup_tokens", 10, [f"{TEXT}.pretrain.schedule: allowed: warmup_tokens or"]),
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
        ("recipe", "text", ["recipe: was 'text'; allowed: quick, handout, unaided, open"]),
        ("model.variant", "nonsense", ["model.variant: was 'nonsense'", "compared, all, vanilla"]),
        ("study.asked", ["quick", "quick"], ["study.asked: was ['quick', 'quick']", "with questions once", "open"]),
        ("study.compared", ["rope", "rope"], ["study.compared: was ['rope', 'rope']", "each once"]),
        ("variants.unused", {}, ["variants: 'unused' has no file"]),
        ("sources.cs224n.sha256", {}, ["sources.cs224n", "wiki.txt"]),
        ("recipes.article", TEXT_RECIPE, ["recipes: 'article' is a name that the study itself uses"]),
        ("variants.baseline", {}, ["variants: 'baseline' is a name that the study itself uses"]),
        # a key that earlier versions had
        ("study.variants", ["rope"], ["study.variants: this key is gone: all keys of `variants`", "; remove it"]),
        (f"{HANDOUT}.generation.beams", 4, [f"{HANDOUT}.generation.beams: this key is gone: answers are", "--beams"]),
        (f"{HANDOUT}.finetune.replay", 0.5, [f"{HANDOUT}.finetune.replay: this key is gone"]),
        ("recipes.open.pretrain.objectives.word_cloze.past_answers", True, ["past_answers: this key is gone: no cue"]),
        ("grid.recipe", "quick", ["grid.recipe: was 'quick'; allowed: text"]),
        ("cost.lengths", [128, 64], ["cost: lengths [128, 64] do not ascend"]),
        ("influence.settings.percever", [], ["influence.settings: 'percever' has no file"]),
        ("ablation.changes.full", {"model": {"dropout": 0.5}}, ["ablation.changes.full: allowed: {}"]),
        (DROPOUT, {"model": {"dropout": 0.0}}, [f"{DROPOUT}: changes nothing"]),
        (DROPOUT, {"model": {"drop": 1}}, [f"{DROPOUT}.model.drop: unknown key; did you mean 'dropout'?"]),
        (DROPOUT, {"seeds": [1, 2]}, [f"{DROPOUT}.seeds", "model, optimizer"]),
        (DROPOUT, {"model": {"context": 64}}, [f"{DROPOUT}.model.context"]),
        ("article.recipe", "text", ["article.recipe: was 'text'; allowed: quick"]),
        (f"{READER}.variant", "perceiver", [f"{READER}.variant: was 'perceiver'; allowed: rope, vanilla"]),
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
    others = ("variants", "influence", "article")  # the mixers check those, and the article its models
    paths = [path for path in numbers(params()) if path[0] not in others]
    assert len(paths) > 150
    for *path, last in paths:
        content = params()
        reduce(getitem, path, content)[last] = huge
        key = next(part for part in (last, *reversed(path)) if isinstance(part, str))
        with pytest.raises(StudyError, match=key):
            check(Settings, content, "params.yaml", prefix="")


@pytest.mark.parametrize("name", params()["article"]["models"])
def test_a_model_of_the_article_is_the_same_whatever_objectives_the_recipe_has(name: str) -> None:
    content = params()
    content["recipes"]["quick"]["pretrain"]["objectives"] = {"word_cloze": WORD_CLOZE | {"mixture_weight": 1.0}}
    found = [check(Settings, each, "", prefix="").of_article(name).recipes["quick"] for each in (params(), content)]
    if params()["article"]["models"][name]["change"]:
        assert found[0] == found[1]


def test_a_fault_of_an_article_model_is_told_where_it_is_made() -> None:
    content = params()
    content["article"]["models"]["with_reader"]["change"] = {"model": {"drop": 1}}
    settings = check(Settings, content, "params.yaml", prefix="")
    with pytest.raises(StudyError, match=r"params.yaml: article.models.with_reader.change.model.drop: unknown key"):
        settings.of_article("with_reader")
    with pytest.raises(StudyError, match="unknown model 'reader'; allowed: questions_only"):
        settings.of_article("reader")


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
