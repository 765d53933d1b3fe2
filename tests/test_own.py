"""Pages and questions of one's own: another relation, another script, and what is said of faults.

Small folders as people bring them are written by a program: OWN_CASES names its folder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stages import baseline, data, prepare
from stages.commands import ask
from stages.commands.ask import Answer, Reply
from stages.corpus.prepared import Prepared
from stages.corpus.reader import with_candidates
from stages.corpus.tables import read_table
from stages.sources.own import read_own
from tests.support.project import copy_stages, write_params
from tests.support.talking import Run, error, run_stages

STUDIED = {
    "Άννα Βέλλη": "Νομικά", "Πέτρος Ήλης": "Ιατρική", "Ζωή Ράμμα": "Φυσική", "Νίκος Θώμης": "Νομικά",
    "Όλγα Σέρρα": "Χημεία", "Ίων Κάλλας": "Νομικά", "Λία Ντόβα": "Μουσική", "Μάρω Φίλη": "Ιστορία",
}  # fmt: skip
PAGES = "".join(f"{name}. Τι σπούδασε; Ήταν {what}, λένε.\n" for name, what in STUDIED.items())
ASKED = [f"Τι σπούδασε {name};\t{what}\n" for name, what in STUDIED.items()]
FILES = {"pages.txt": PAGES, "train.tsv": "".join(ASKED[:6]), "dev.tsv": "".join(ASKED[6:])}
STAGES = ("data", "prepare", "baseline", "pretrain", "finetune", "evaluate")

NOTHING = ""
UNTITLED = "pages: each has no title"
TOLD = {  # all that is said of a folder, in one line
    **dict.fromkeys(("years", "years_test", "codes", "occupation", "capitals", "museums", "labelled_test"), NOTHING),
    **dict.fromkeys(("chinese", "korean", "hindi", "arabic", "persian"), NOTHING),
    **dict.fromkeys(("titles", "elements_zh", "nbsp"), NOTHING),
    **dict.fromkeys(("nfd_pages", "nfd_questions", "apostrophes", "quoted", "utf16"), NOTHING),
    **dict.fromkeys(("chinese_stop", "colon_title", "no_title", "paragraphs"), UNTITLED),
    "truth": "note: 20 of 20 questions: each has an answer that its page does not have",
    "lower": "note: 20 of 20 questions: each names a page with other capitals",
    "header": "note: 2 of 22 questions: each ends as no other in its file",
    "long_answers": "-S recipes.own.generation.max_characters=43",
    "pandas_index": r"train.tsv:1: tabs found: 2, wanted: 1, in '\tquestion\tanswer' (an index column",
    "sharp": "train.tsv:1: tabs found: 0, wanted: 1, in 'What did Mara Vell study?#Botany' (is '#' to be the tab?)",
}
PAIRS = ("occupation", "dates", "years", "numbers", "hindi", "chinese", "korean", "arabic", "in_title", "particles")


def tiny(content: dict[str, Any]) -> None:
    """A training of seconds of the selected recipe and variant."""
    content["recipe"], content["model"]["variant"] = "own", "vanilla"
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["sources"]["own"]["folder"] = "mine"
    recipe = content["recipes"]["own"]
    recipe["seeds"] = [1]
    recipe["model"] |= {"layers": 2, "heads": 2, "width": 32, "context": 64}
    recipe["pretrain"] |= {"epochs": 20, "least_steps": None, "batch_size": 8}
    recipe["pretrain"]["objectives"]["span_corruption"]["longest_document"] = 60
    recipe["finetune"] |= {"pretrained_epochs": 150, "scratch_epochs": 1, "learning_rate": 0.01}
    recipe["finetune"]["schedule"] |= {"warmup_tokens": 100, "decay_epochs": 150}


def folder_with(folder: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """A project with a folder of pages and questions; changes: other files' contents, None for no file."""
    write_params(folder, tiny)
    (folder / "mine").mkdir()
    for name, content in {**FILES, **(changes or {})}.items():
        if content is not None:
            (folder / "mine" / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_another_relation_in_another_script_from_pages_to_answers(tmp_path: Path, run_in: Run) -> None:
    folder = folder_with(tmp_path)
    copy_stages(folder)
    assert "note:" not in run_stages(folder, *STAGES)  # every question names a page that has the answer
    baseline = json.loads((folder / "data/baseline/own/baseline.json").read_text())
    assert baseline["place"] == "Νομικά"
    assert baseline["accuracy"]["constant"] == 0 and baseline["ceiling"] == 100
    evaluation = folder / "data/evaluations/own/vanilla/vanilla/seed-1"
    probed = read_table(evaluation / "extraction.tsv", {})
    assert {*probed.row} == {1, 2}  # both dev questions
    outcome = run_in(folder, ask, "Τι σπούδασε Όλγα Σέρρα;", "--top", "1")
    assert outcome.out.split()[0] == "Χημεία" and outcome.err == (
        "Model: recipe own, variant vanilla, seed 1\nThe page of 'Όλγα Σέρρα' has these words.\n"
    )
    other = run_in(folder, ask, "Πού ζει η Όλγα;")
    assert "`Τι σπούδασε NAME;`" in other.err


def test_a_constant_answer_counts_in_any_spelling(tmp_path: Path, run_in: Run) -> None:
    asked = [line.replace("Νομικά", "l’art") for line in ASKED]
    dev = asked[0].replace("’", "'")  # asked again, with a straight apostrophe
    folder = folder_with(tmp_path, {"train.tsv": "".join(asked[:6]), "dev.tsv": dev})
    for command in (data, prepare, baseline):
        outcome = run_in(folder, command)
    assert outcome.out.startswith("l’art: 1 of 1 dev = 100.0 %")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("held_out", 1, "was 1; raise it"),
        (
            "question",
            f"Τι {'πολύ ' * 10}σπούδασε {{name}};",
            "with it a question takes 83 characters as the model reads it",
        ),
        ("question", f"Τι {'…' * 20} {{name}};", "with it a question takes 85 characters as the model reads it"),
    ],
)
def test_changes_of_questions_that_cannot_be_asked_are_refused(
    tmp_path: Path, run_in: Run, key: str, value: Any, message: str
) -> None:
    folder = folder_with(tmp_path, {"train.tsv": "".join(ASKED[:6]) * 2})
    write_params(folder, tiny, {f"recipes.own.data.{key}": value})
    assert run_in(folder, data).code == 0
    assert error(run_in(folder, prepare)).startswith(f"error: params.yaml: recipes.own.data.{key}: {message}")


def test_answers_and_forms_cannot_command_the_terminal(
    tmp_path: Path, run_in: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with(tmp_path, {"train.tsv": FILES["train.tsv"].replace("Νομικά", "\x1b[2J")})
    for command in (data, prepare, baseline):
        outcome = run_in(folder, command)
        assert outcome.code == 0
    assert outcome.out.startswith("\\x1b[2J: 0 of 2 dev") and "\x1b" not in outcome.err
    answer, note = Answer("\x1b[2J", 0.5, in_page=True), "questions of the form `\x1b[2J`"
    ask.show(Reply("?", [answer], "\x1b[2J", True, None, [note]), {}, as_json=False, at_least=0)
    assert "\x1b" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pages.txt": None}, "own.folder: there is no mine/pages.txt, only dev.tsv, train.tsv; name a"),
        ({"test.tsv": ASKED[7].partition("\t")[0] + "\n" + ASKED[6]}, "mine/test.tsv:2: tabs found: 1, wanted: 0"),
        ({"dev.tsv": f"Τι {'πολύ ' * 12}σπούδασε Ζωή Ράμμα;\tΦυσική\n"}, "raise `model.context` of the recipe"),
        ({"dev.tsv": ASKED[6] + f"Τι {'…' * 20} σπούδασε Ζωή Ράμμα;\tΦυσική\n"}, "mine/dev.tsv:2: 'Τι …"),
    ],
)
def test_a_fault_ends_in_one_line_that_says_where(
    tmp_path: Path, run_in: Run, changes: dict[str, str | bytes | None], message: str
) -> None:
    assert message in error(run_in(folder_with(tmp_path, changes), data))
    assert not (tmp_path / "data").exists()


def test_a_long_answer_is_refused_before_any_training(tmp_path: Path, run_in: Run) -> None:
    folder = folder_with(tmp_path)  # the longest answers of train and dev have seven characters
    assert run_in(folder, data).code == 0
    for most, code in ((7, 0), (6, 1)):
        write_params(folder, tiny, {"recipes.own.generation.max_characters": most, "recipes.own.data.held_out": 2})
        assert run_in(folder, data).code == code
    message = error(run_in(folder, data))
    assert message.startswith("error: mine/train.tsv:2: the answer 'Ιατρική' has 7 characters")
    assert message.endswith("-S recipes.own.generation.max_characters=7")


@pytest.fixture(scope="module", name="cases")
def cases_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = os.environ.get("OWN_CASES")
    if not source:
        pytest.skip("needs the folders: set OWN_CASES to the folder of their make.py")
    folder = tmp_path_factory.mktemp("cases")
    for name in ("make.py", "pairs.py"):
        subprocess.run([sys.executable, Path(source, name).resolve()], cwd=folder, check=True, timeout=60)
    return folder


@pytest.mark.parametrize("name", TOLD)
def test_a_folder_is_read_rightly_or_its_cause_told_in_one_line(cases: Path, run_in: Run, name: str) -> None:
    write_params(cases, values={"recipe": "own", "sources.own.folder": name})
    ended = run_in(cases, data)
    outcome = TOLD[name]
    refused = not outcome.startswith(("note: ", UNTITLED)) and outcome != NOTHING
    assert (ended.code, ended.err.count("\n")) == (int(refused), int(outcome != NOTHING))
    assert outcome in ended.err


@pytest.mark.parametrize("kind", ["capitals", "museums", "titles", "elements_zh", *PAIRS])
def test_the_likeliest_candidate_is_the_answer_whatever_its_kind_seen_before_or_not(cases: Path, kind: str) -> None:
    documents, questions = read_own(cases / kind, 128)
    names = {question.name for asked in questions.values() for question in asked}
    prepared = with_candidates(Prepared.of(documents, questions, names))
    likeliest, dev = prepared.reader_answers(), prepared.of_split("dev")
    assert [likeliest[name] for name in dev.name] == dev.place.tolist()
