"""Small folders as people bring them: OWN_CASES names the folder with the program that writes them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stages import data
from stages.corpus.prepared import Prepared
from stages.corpus.reader import with_candidates
from stages.sources.own import read_own
from tests.support.project import write_params
from tests.support.talking import Run

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


@pytest.fixture(scope="module", name="cases")
def cases_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = os.environ.get("OWN_CASES")
    if not source:
        pytest.skip("needs the folders: set OWN_CASES to the folder of their make.py")
    folder = tmp_path_factory.mktemp("cases")
    for name in ("make.py", "pairs.py"):
        subprocess.run([sys.executable, Path(source, name).resolve()], cwd=folder, check=True, timeout=60)
    for case in folder.iterdir():
        (case / "test.tsv").touch()  # most have none
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
    likeliest, dev = prepared.likeliest(prepared.candidates), prepared.of_split("dev")
    assert [likeliest[name] for name in dev.name] == dev.place.tolist()
