"""params.yaml: the committed file is valid, and every fault in it is one line that names its key."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.check import main
from stages.settings import QuestionRecipe, load
from stages.system.errors import StudyError
from tests.tiny import ROOT, TITLE_CLOZE, WORD_CLOZE, params

Params = dict[str, Any]


GONE = object()


def put(key: str, value: Any) -> Callable[[Params], None]:
    """A change of params.yaml: the dotted key gets the value, or is gone."""

    def change(content: Params) -> None:
        *path, last = key.split(".")
        for part in path:
            content = content[part]
        content[last] = value
        if value is GONE:
            del content[last]

    return change


def drop(key: str) -> Callable[[Params], None]:
    return put(key, GONE)


def write(folder: Path, *changes: Callable[[Params], None]) -> Path:
    content = params()
    for change in changes:
        change(content)
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


def fault(path: Path) -> str:
    """The message of a file that must be refused, checked to be one line that begins with the file."""
    with pytest.raises(StudyError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("options", [[], ["--keys"]])
def test_the_committed_file_is_valid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["check", *options, "--stamp", str(tmp_path / "stamp.txt")])
    main()
    assert (tmp_path / "stamp.txt").is_file()
    assert capsys.readouterr().err == ""


def test_keys_are_checked_without_torch() -> None:
    code = "import sys; from stages.check import main; sys.argv[1:] = ['--keys']; main(); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"torch", "stages.model"} & {*ended.stdout.split()}


def test_the_recipes_of_the_design_exist() -> None:
    recipes = load(ROOT / "params.yaml").recipes
    assert {"quick", "handout", "open", "text"} <= set(recipes)
    assert [name for name, recipe in recipes.items() if not isinstance(recipe, QuestionRecipe)] == ["text"]


HANDOUT, TEXT, WORDS = "recipes.handout", "recipes.text", "recipes.open.pretrain.objectives.word_cloze"
CAUSAL = {"causal_lm": {"mixture_weight": 1.0}}
CLOZES = {"title_cloze": TITLE_CLOZE.model_dump(), "word_cloze": WORD_CLOZE.model_dump()}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put("colour", "red"), ["colour: unknown key"]),
        (put(f"{WORDS}.most_phrases", 1), [f"{WORDS}.most_phrases: unknown key"]),
        (put(f"{TEXT}.pretrain.objectives.causal_lm.starts", "anywhere"), ["causal_lm.starts: unknown key"]),
        (drop("compute"), ["compute: this key is missing"]),
        (drop(f"{HANDOUT}.optimizer.betas"), [f"{HANDOUT}.optimizer.betas: this key is missing"]),
        (put(f"{HANDOUT}.model.layers", "four"), [f"{HANDOUT}.model.layers: was 'four'", "integer"]),
        (put(f"{HANDOUT}.model.layers", 4.0), [f"{HANDOUT}.model.layers: was 4.0", "integer"]),
        (put(f"{HANDOUT}.model.layers", True), [f"{HANDOUT}.model.layers: was True", "integer"]),
        (put(f"{HANDOUT}.pretrain", None), [f"{HANDOUT}.pretrain: was None"]),
        (put(f"{HANDOUT}.report.show_questions", "no"), [f"{HANDOUT}.report.show_questions: was 'no'"]),
        (put(f"{HANDOUT}.model.heads", 7), [f"{HANDOUT}.model: width 256", "heads 7"]),
        (put(f"{HANDOUT}.pretrain.batch_size", 0), [f"{HANDOUT}.pretrain.batch_size: was 0", "greater than 0"]),
        (put(f"{HANDOUT}.finetune.learning_rate", float("nan")), [f"{HANDOUT}.finetune.learning_rate: was nan"]),
        (put(f"{HANDOUT}.finetune.replay", float("inf")), [f"{HANDOUT}.finetune.replay: was inf"]),
        (put(f"{HANDOUT}.model.dropout", 1.5), [f"{HANDOUT}.model.dropout: was 1.5", "less than 1"]),
        (put(f"{HANDOUT}.seeds", [1, 2, 1]), [HANDOUT, "seeds [1, 2, 1]", "distinct"]),
        (put(f"{HANDOUT}.seeds", []), [f"{HANDOUT}.seeds: was []"]),
        (put(f"{HANDOUT}.model.context", 64), [HANDOUT, "longest_document 112", "context 64", "at most 63"]),
        (put(f"{HANDOUT}.data.source", "x" * 500), [f"{HANDOUT}.data.source: was 'xxx", "..."]),
        (put(f"{HANDOUT}.baseline.place", ""), [f"{HANDOUT}.baseline.place: was ''"]),
        (drop(f"{HANDOUT}.data"), [f"{HANDOUT}.data: this key is missing"]),
        (put(HANDOUT, None), [f"{HANDOUT}: was None"]),
        (put(f"{HANDOUT}.generation.beams", 1000), [f"{HANDOUT}.generation.beams: was 1000"]),
        (put(f"{HANDOUT}.pretrain.objectives", {}), [f"{HANDOUT}.pretrain.objectives: no objective", "causal_lm"]),
        (put(f"{HANDOUT}.pretrain.objectives", CAUSAL), [HANDOUT, "objectives.causal_lm: pages do not go on"]),
        (put(f"{TEXT}.pretrain.objectives.causal_lm.mixture_weight", 0.5), ["pretrain.objectives", "sum to 0.5"]),
        *(
            (put(f"{TEXT}.pretrain.objectives", {name: cloze}), [TEXT, f"{name}: a text has no pages"])
            for name, cloze in CLOZES.items()
        ),
        (put(f"{TEXT}.finetune", {}), [f"{TEXT}.finetune: unknown key"]),
        (put(f"{TEXT}.model.heads", 7), [f"{TEXT}.model: width 128", "heads 7"]),
        (put(f"{WORDS}.lone", 0), ["word_cloze.lone: was 0", "greater than 0"]),
        (put("recipe", "text"), ["recipe: was 'text'; allowed: quick, handout, open"]),
        (put("model.variant", "nonsense"), ["model.variant: was 'nonsense'", "compared, all, vanilla"]),
        (put("study.recipes", ["quick"]), ["study.recipes: 'handout'", "each key of `recipes` once"]),
        (put("study.asked", ["quick", "quick"]), ["study.asked: 'quick'", "with questions once", "open"]),
        (put("study.variants", ["vanilla", "nonsense"]), ["study.variants: 'nonsense'", "key of `variants`"]),
        (put("study.compared", ["vanilla", "nonsense"]), ["study.compared: was 'nonsense'", "rope"]),
        (put("study.compared", ["rope", "rope"]), ["study.compared: was ['rope', 'rope']", "each once"]),
        (put("study.compared", []), ["study.compared", "at least 1 item"]),
        (drop("variants.vanilla"), ["study.variants: 'vanilla'"]),
        (put("variants.unused", {}), ["study.variants: 'unused'"]),
        (put("sources.cs224n.sha256", {}), ["sources.cs224n", "wiki.txt"]),
        (put("sources.text.path", ""), ["sources.text.path: was ''"]),
        (put("sources.synthetic.templates", 0), ["sources.synthetic.templates: was 0"]),
        (put("sources.synthetic.distractors", 1.5), ["sources.synthetic.distractors: was 1.5"]),
        (put("compute.device", "tpu"), ["compute.device: was 'tpu'", "'auto', 'cpu' or 'cuda'"]),
        (put("ablation.recipe", "text"), ["ablation.recipe: was 'text'", "quick, handout, open"]),
        (put("ablation.variant", "nonsense"), ["ablation.variant: was 'nonsense'", "rope"]),
        (put("ablation.changes.full", {"model": {"dropout": 0.5}}), ["ablation.changes.full: allowed: {}"]),
        (put("ablation.changes.dropout", {"model": {"dropout": 0.0}}), ["ablation.changes.dropout: changes nothing"]),
        (put("ablation.changes.dropout", {"model": {"drop": 1}}), ["ablation.changes.dropout.model.drop: unknown key"]),
        (put("ablation.changes.dropout", {"optimizer": 3}), ["ablation.changes.dropout.optimizer"]),
        (put("ablation.changes.dropout", {"seeds": [1, 2]}), ["ablation.changes.dropout.seeds", "model, optimizer"]),
        (put("ablation.changes.dropout", {"model": {"context": 64}}), ["ablation.changes.dropout.model.context"]),
        (put("cost.recipe", "nonsense"), ["cost.recipe: was 'nonsense'", "quick"]),
        (put("influence.recipe", "nonsense"), ["influence.recipe: was 'nonsense'", "quick"]),
        (put("influence.settings.percever", []), ["influence.settings: 'percever' has no file"]),
        (put("cost.lengths", [128, 64]), ["cost: lengths [128, 64] do not ascend"]),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_names_its_key(
    tmp_path: Path, change: Callable[[Params], None], told: list[str]
) -> None:
    message = fault(write(tmp_path, change))
    assert [part for part in told if part not in message] == []
    assert len(message) < 400


def test_several_faults_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, put(f"{HANDOUT}.model.layers", 0), put(f"{HANDOUT}.model.heads", 0), drop("recipe"))
    assert fault(path).endswith(" (and 2 more)")


def test_numbers_in_scientific_notation_need_no_point(tmp_path: Path) -> None:
    path = write(tmp_path, put(f"{HANDOUT}.pretrain.learning_rate", "RATE"))
    path.write_text(path.read_text(encoding="utf-8").replace("RATE", "3e-3"), encoding="utf-8")
    assert load(path).recipes["handout"].pretrain.learning_rate == 3e-3


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"recipe: quick\nmodel: [all\nstudy: {}\n", ":3: not valid YAML"),
        (b"a\nb: 1\n", ":2: not valid YAML"),
        (b"recipe: \xff\n", ": not valid YAML"),
        (b"recipe: \x00\n", ": not valid YAML"),
        (b"- quick\n", ": the file"),
        (b"", ": the file"),
    ],
)
def test_a_file_that_is_no_settings_at_all_is_told_in_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    assert fault(path).removeprefix(str(path)).startswith(told)


def test_a_missing_file_is_told_with_where_to_go(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"params\.yaml is missing here; .* the project's root folder\Z"):
        load(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ((put("variants.rope.theta", 0.5),), ["variants.rope.theta: was 0.5", "greater than 1"]),
        ((put("variants.vanilla", {"bias": True}),), ["variants.vanilla.bias: unknown key"]),
        (
            (put("influence.settings.perceiver", [{"bottleneck": 129, "residual": True}]),),
            ["influence.settings.perceiver", "bottleneck 129 exceeds model.context 128"],
        ),
        (
            (put(f"{HANDOUT}.model.width", 24), put(f"{HANDOUT}.model.heads", 8)),
            ["variants.rope", "even head size", "3"],
        ),
    ],
)
def test_a_fault_that_only_a_variant_knows_is_found_by_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: tuple[Callable[[Params], None]], told: list[str]
) -> None:
    write(tmp_path, *changes)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["check", "--stamp", "stamp.txt"])
    with pytest.raises(SystemExit) as stop:
        main()
    message = str(stop.value.code)
    assert message.startswith("error: params.yaml: ")
    assert "\n" not in message
    assert [part for part in told if part not in message] == []
    assert not (tmp_path / "stamp.txt").exists()


@pytest.mark.parametrize("present", [True, False], ids=["faulty file", "no file"])
def test_the_command_ends_with_one_line_and_exit_code_1(tmp_path: Path, present: bool) -> None:
    if present:
        write(tmp_path, put("model.variant", "nonsense"))
    ended = subprocess.run(
        [sys.executable, "-m", "stages.check"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: params.yaml")
    assert "model.variant" in line if present else "missing" in line
