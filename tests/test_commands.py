"""`ask` and `sample` as people use them, in a project with a tiny model that has learned eight pages and a rhyme."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stages import ask, baseline, evaluate, finetune, report, sample, text
from stages.corpus.prepared import Prepared
from tests.project import copy_stages, environment, write_params
from tests.tiny import BIRTHPLACES, VARIANTS, tiny_prepared

RHYME = "The cat sat on the mat.\n"
ZOE = "Where was Zoé Ark born?"
RUN = """
import importlib, sys
for line in sys.argv[1:]:
    module, *sys.argv[1:] = line.split()
    importlib.import_module(module).main()
"""
QUICK, TEXT = "--recipe quick --variant vanilla", "--recipe text --variant vanilla"
STAGES = (
    *(f"stages.pretrain {QUICK}", f"stages.finetune {QUICK}"),
    *("stages.text", "stages.prepare --recipe text", f"stages.pretrain {TEXT}"),
)


def tiny(content: dict[str, Any]) -> None:
    """Trainings of seconds, of one variant; both models know their texts by heart."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["sources"]["text"]["path"] = "rhyme.txt"
    for name, context, epochs in (("quick", 64, 60), ("text", 32, 200)):
        recipe = content["recipes"][name]
        recipe["seeds"] = [1]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 64, "context": context, "dropout": 0.0}
        recipe["pretrain"] |= {"epochs": epochs, "batch_size": 8, "learning_rate": 0.01}
        recipe["pretrain"]["schedule"] |= {"warmup_tokens": 100, "decay_epochs": epochs}
    quick = content["recipes"]["quick"]
    quick["pretrain"]["objectives"] = {"causal_lm": {"share": 1.0, "starts": "document"}}
    quick["finetune"] |= {"scratch_epochs": 1, "pretrained_epochs": 120, "batch_size": 8, "learning_rate": 0.01}
    quick["finetune"]["schedule"] |= {"warmup_tokens": 100, "decay_epochs": 120}


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="module", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talk") / "project"
    folder.mkdir()
    copy_stages(folder)
    write_params(folder, tiny)
    (folder / "rhyme.txt").write_text(RHYME * 10)
    prepared = folder / "data" / "prepared" / "quick"
    prepared.mkdir(parents=True)
    tiny_prepared().save(prepared)
    (folder / "run.py").write_text(RUN)
    command = [sys.executable, "run.py", *STAGES]
    ended = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    report = folder / "reports" / "quick" / "all"
    report.mkdir(parents=True)
    accuracies = {"rope": {"dev_accuracy": 40.0}, "vanilla": {"dev_accuracy": 60.0}}
    (report / "metrics.json").write_text(json.dumps({"variants": accuracies}))
    return folder


@pytest.fixture(name="run")
def run_fixture(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command's main in the project with arguments and an input."""

    def run(command: Any, *arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.chdir(project)
        monkeypatch.setattr("sys.argv", [command.__name__, *arguments])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = 0
        try:
            command.main()
        except SystemExit as stop:
            code = 1 if isinstance(stop.code, str) else int(stop.code or 0)
            print(stop.code if isinstance(stop.code, str) else "", file=sys.stderr)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


def places(out: str) -> list[tuple[str, float]]:
    """The printed places with their shares."""
    rows = [line.rsplit(maxsplit=1) for line in out.splitlines()]
    return [(place, float(share.removesuffix("%")) / 100) for place, share in rows]


def error(outcome: Outcome) -> str:
    """The one line in which a command failed."""
    assert outcome.code == 1 and outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize("name", BIRTHPLACES)
def test_a_question_is_answered_with_the_likeliest_places_first(run: Run, name: str) -> None:
    outcome = run(ask, f" Where was {name} born? ")
    assert (outcome.code, outcome.err) == (0, "")
    found = places(outcome.out)
    assert len(found) == len(dict(found)) == 5
    assert found[0][0] == BIRTHPLACES[name] and found[0][1] > 0.5
    shares = [share for _, share in found]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.003


@pytest.mark.parametrize("narrow", [("--beams", "1"), ("--temperature", "0"), ("--temperature", "3", "--top-k", "1")])
def test_one_line_and_the_likeliest_character_each_time_give_the_greedy_answer(run: Run, narrow: list[str]) -> None:
    ((place, _),) = places(run(ask, ZOE, *narrow).out)
    assert place == "Brod"


def test_drawn_answers_differ_and_follow_from_their_seed(run: Run) -> None:
    hot = ("--top", "20", "--temperature", "5", "--draw-seed")
    first, again, other = (json.loads(run(ask, ZOE, "--json", *hot, seed).out)["answers"] for seed in ("1", "1", "2"))
    assert first == again != other
    for answers in (first, other):
        assert 1 < len({answer["place"] for answer in answers}) == len(answers) <= 20
        shares = [answer["probability"] for answer in answers]
        assert shares == sorted(shares, reverse=True)


def test_json_holds_what_was_asked_of_which_model_and_the_answers(run: Run) -> None:
    line = json.loads(run(ask, ZOE, "--json", "--top", "2").out)
    assert {key: line[key] for key in ("question", "recipe", "variant", "seed", "notes")} == {
        "question": ZOE,
        "recipe": "quick",
        "variant": "vanilla",  # the best of the report
        "seed": 1,
        "notes": [],
    }
    best, second = line["answers"]
    assert best["place"] == "Brod" and 1 >= best["probability"] > second["probability"] > 0


def test_a_name_without_a_page_is_told(run: Run) -> None:
    outcome = run(ask, "Where was Zoé A born?")  # a page begins so, but with another name
    assert len(places(outcome.out)) == 5
    assert outcome.err == "note: no page of the corpus is about 'Zoé A': the model can but guess\n"


def test_a_question_of_another_form_is_answered_with_a_hint(run: Run) -> None:
    outcome = run(ask, "Who is Zoé Ark")
    assert (outcome.code, len(places(outcome.out))) == (0, 5)
    assert "`Where was NAME born?`" in outcome.err


def test_letters_that_the_corpus_lacks_are_read_as_in_prepare(run: Run) -> None:
    line = json.loads(run(ask, "Where was Żoé Ark漢 born?", "--json").out)
    assert "the corpus lacks Ż 漢, so the model reads 'Zoé Ark'" in line["notes"]
    same = json.loads(run(ask, ZOE, "--json").out)
    assert line["answers"] == same["answers"]


def test_questions_are_read_one_a_line_to_the_end_and_a_bad_one_stops_nothing(run: Run) -> None:
    lines = ["Where was Lu Fane born?", "", "漢", f"Where was {'x' * 60} born?", ZOE]
    outcome = run(ask, "--top", "1", "--variant", "vanilla", stdin="\n".join(lines).encode() + b"\n\xff")
    assert outcome.code == 0
    assert [place for place, _ in places(outcome.out)] == ["Kip", "Brod"]
    first, second, third = outcome.err.splitlines()
    assert first == "error: '漢' has no character that the corpus has; ask: Where was NAME born?"
    assert "has 74 characters; the model reads 63 at most" in second
    assert third.startswith("error: '�' has no character")


def test_no_input_is_no_error(run: Run) -> None:
    assert run(ask) == Outcome(0, "", "")


def test_a_closed_input_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert list(ask.questions()) == []


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("output", "sign"), [(io.StringIO, ""), (Terminal, "> ")])
def test_a_prompt_is_shown_in_a_terminal_only(
    output: type[io.StringIO], sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("one\n"))
    monkeypatch.setattr("sys.stdout", written := output())
    assert list(ask.questions()) == ["one"]
    assert written.getvalue() == (2 * sign + "\n" if sign else "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--variant", "rope"], ["rope/finetuned", "dvc repro stages/dvc.yaml:finetune@quick-rope"]),
        (["--recipe", "handout", "--variant", "rope"], ["dvc repro stages/dvc.yaml:finetune@handout-rope"]),
        (["--recipe", "handout"], ["dvc repro stages/dvc.yaml:finetune@handout-vanilla"]),
        (["--recipe", "text"], ["'text' has no questions", "stages.sample --recipe text"]),
        (["--recipe", "nonsense"], ["unknown recipe 'nonsense'", "quick"]),
        (["--variant", "nonsense"], ["unknown variant 'nonsense'", *VARIANTS]),
        (["--seed", "2"], ["seed 2", "allowed: 1"]),
        (["--top", "0"], ["--top: was 0; allowed: 1 to 256"]),
        (["--top", "100000"], ["--top: was 100000; allowed: 1 to 256"]),
        (["--beams", "0"], ["--beams: was 0; allowed: 1 to 256"]),
        (["--beams", "257"], ["--beams: was 257; allowed: 1 to 256"]),
        (["--beams", "2", "--top-k", "3"], ["--beams draws nothing; allowed: it or --top-k"]),
        (["--top-p", "2"], ["top-p: was 2"]),
        (["--draw-seed", "-1"], ["--draw-seed: was -1"]),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(run: Run, arguments: list[str], told: list[str]) -> None:
    line = error(run(ask, ZOE, *arguments))
    assert [part for part in told if part not in line] == []


def test_one_selected_variant_needs_no_report(run: Run, project: Path) -> None:
    def select(content: dict[str, Any]) -> None:
        tiny(content)
        content["model"]["variant"] = "rope"

    write_params(project, select)
    try:
        assert "finetune@quick-rope" in error(run(ask, ZOE))
    finally:
        write_params(project, tiny)


PROVENANCE = Path("data/weights/quick/vanilla/finetuned/provenance.json")


def test_weights_of_another_shape_are_refused_though_they_would_fit(run: Run, project: Path) -> None:
    def regroup(content: dict[str, Any]) -> None:
        tiny(content)
        content["recipes"]["quick"]["model"] |= {"heads": 4, "dropout": 0.5}

    write_params(project, regroup)
    try:
        line = error(run(ask, ZOE))
    finally:
        write_params(project, tiny)
    assert "was trained with recipes.quick.model.heads: 2, params.yaml has 4; change that back, or train anew" in line
    assert "dvc repro stages/dvc.yaml:finetune@quick-vanilla" in line


def test_weights_of_other_settings_of_their_variant_are_refused(run: Run, project: Path) -> None:
    told = (project / PROVENANCE).read_text()
    made = json.loads(told)
    made["settings"]["variant"]["vanilla"]["theta"] = 50.0
    (project / PROVENANCE).write_text(json.dumps(made))
    try:
        assert "was trained with variants.vanilla.theta: 50.0, params.yaml has None" in error(run(ask, ZOE))
    finally:
        (project / PROVENANCE).write_text(told)


def test_what_matters_in_training_alone_may_change(run: Run, project: Path) -> None:
    def train_on(content: dict[str, Any]) -> None:
        tiny(content)
        content["recipes"]["quick"]["model"]["dropout"] = 0.5
        content["recipes"]["quick"]["finetune"]["pretrained_epochs"] = 7

    write_params(project, train_on)
    try:
        assert run(ask, ZOE).code == 0
    finally:
        write_params(project, tiny)


def test_weights_of_other_characters_are_refused(run: Run, project: Path) -> None:
    vocabulary = project / "data/prepared/quick/vocabulary.json"
    characters = json.loads(vocabulary.read_text())
    vocabulary.write_text(json.dumps([*characters[:2], *characters[:1:-1]]))
    try:
        assert "was trained with other characters than data/prepared/quick has" in error(run(ask, ZOE))
    finally:
        vocabulary.write_text(json.dumps(characters))
    assert run(ask, ZOE).code == 0


@pytest.mark.parametrize("content", ["", "[]", '{"settings": {}}'])
def test_weights_that_do_not_tell_where_they_come_from_are_refused(run: Run, project: Path, content: str) -> None:
    path = project / PROVENANCE
    told = path.read_text()
    path.write_text(content)
    try:
        assert "provenance.json is missing or broken" in error(run(ask, ZOE))
    finally:
        path.write_text(told)


def sampled(run: Run, *arguments: str) -> str:
    outcome = run(sample, "--recipe", "text", "--variant", "vanilla", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.removesuffix("\n")


def test_a_text_known_by_heart_goes_on_past_the_context(run: Run) -> None:
    said = sampled(run, "--prompt", "The ", "--characters", "150", "--temperature", "0")
    assert said == (RHYME * 10)[: len("The ") + 150]


def test_the_draws_follow_from_their_seed(run: Run) -> None:
    hot = ("--characters", "80", "--temperature", "3")
    first, again, other = (sampled(run, *hot, "--draw-seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other
    assert {len(first), len(other)} == {1 + 80}
    assert first.startswith("\n")


@pytest.mark.parametrize("restriction", [("--top-k", "1"), ("--top-p", "0.0001")])
def test_a_narrow_restriction_cools_the_hottest_draws(run: Run, restriction: tuple[str, str]) -> None:
    said = sampled(run, "--prompt", "The ", "--characters", "60", "--temperature", "3", *restriction)
    assert said == (RHYME * 10)[:64]


@pytest.mark.parametrize("beams", ["1", "3"])
def test_a_beam_goes_on_with_a_text_known_by_heart(run: Run, beams: str) -> None:
    said = sampled(run, "--prompt", "The ", "--characters", "60", "--beams", beams)
    assert said == (RHYME * 10)[:64]


def test_any_recipes_pretrained_model_goes_on(run: Run) -> None:
    outcome = run(sample, "--prompt", "Zoé Ark.", "--characters", "23", "--temperature", "0")
    assert outcome.out == "Zoé Ark. Painter, born in Brod.\n"


def test_letters_of_a_prompt_that_the_text_lacks_are_told(run: Run) -> None:
    outcome = run(sample, "--recipe", "text", "--variant", "vanilla", "--prompt", "Thé ŒX", "--characters", "1")
    assert outcome.out.startswith("The ") and len(outcome.out) == len("The ") + 1 + 1
    assert outcome.err == "note: the corpus lacks é Œ X, so the model reads 'The '\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--prompt", "漢"], ["--prompt: '漢' has no character"]),
        (["--prompt", ""], ["--prompt: '' has no character"]),
        (["--characters", "0"], ["--characters: was 0"]),
        (["--temperature", "-1"], ["temperature: was -1"]),
        (["--temperature", "nan"], ["temperature: was nan"]),
        (["--top-k", "0"], ["top-k: was 0"]),
        (["--top-p", "2"], ["top-p: was 2"]),
        (["--draw-seed", "-1"], ["--draw-seed: was -1"]),
        (["--beams", "0"], ["--beams: was 0; allowed: 1 to 256"]),
        (["--beams", "2", "--top-k", "3"], ["--beams draws nothing; allowed: it or --top-k"]),
        (["--beams", "2", "--top-p", "1", "--temperature", "1"], ["it or --temperature, --top-p"]),
        (["--seed", "7"], ["seed 7", "allowed: 1"]),
        (["--variant", "rope"], ["rope/pretrained", "dvc repro stages/dvc.yaml:pretrain@text-rope"]),
        (["--recipe", "nonsense"], ["unknown recipe 'nonsense'", "text"]),
    ],
)
def test_what_cannot_be_sampled_is_told_in_one_line(run: Run, arguments: list[str], told: list[str]) -> None:
    line = error(run(sample, "--recipe", "text", "--variant", "vanilla", *arguments))
    assert [part for part in told if part not in line] == []


@pytest.mark.parametrize("stage", [finetune, evaluate, baseline, report])
def test_a_stage_that_needs_questions_refuses_a_text(run: Run, stage: Any) -> None:
    more = {baseline: [], report: ["--selection", "all"]}.get(stage, ["--variant", "vanilla"])
    assert error(run(stage, "--recipe", "text", *more)).startswith("error: recipe 'text' has no questions")


def test_a_missing_text_is_told_with_its_key(run: Run, project: Path) -> None:
    def lose(content: dict[str, Any]) -> None:
        tiny(content)
        content["sources"]["text"]["path"] = "nowhere.txt"

    write_params(project, lose)
    try:
        told = error(run(text))
    finally:
        write_params(project, tiny)
    assert told == "error: params.yaml: sources.text.path: there is no file nowhere.txt; name one in UTF-8"


def test_the_text_is_prepared_without_a_lost_character(project: Path) -> None:
    prepared = Prepared.load(project / "data" / "prepared" / "text")
    assert prepared.vocabulary.decode(prepared.documents.tokens) == RHYME * 10
    assert [*prepared.documents.lengths] == [32] * 7 + [16]
    assert {split: len(asked) for split, asked in prepared.questions.items()} == {"train": 0, "dev": 0, "test": 0}
    assert len(prepared.table) == 0
