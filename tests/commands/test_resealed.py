"""Whatever a person changed in a machine-made file, digests written anew: a command works, or tells it in one line."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages import evaluate, finetune, report
from stages.commands import ask, sample
from stages.corpus.prepared import Prepared, write_table
from stages.method import page
from stages.method.exploration import explore
from stages.sources.audit import audit
from stages.system.errors import StudyError
from tests.commands.test_hostile import VALUES, in_one_project
from tests.method.test_page import write_data, write_texts
from tests.support.bounds import assert_told, bounded, contents
from tests.support.example import write_baseline, write_variant
from tests.support.mutations import by_hand
from tests.support.project import with_content, with_sums, write_params
from tests.support.talking import ZOE, Run, tiny
from tests.support.tiny import DOCUMENTS, QUESTIONS

QUICK = ("--recipe", "quick", "--variant", "vanilla")
TEXT = ("--recipe", "text", "--variant", "vanilla")
REPORT = ("--recipe", "quick", "--selection", "compared")
# prepared data are only read as they were written: their digests are the check
DATA = ("data/weights/quick/vanilla/*/*",)
READ: list[tuple[Any, tuple[str, ...], tuple[str, ...]]] = [  # command, its arguments, the files that it may read
    (ask, (ZOE, *QUICK), DATA),
    (sample, ("--characters", "40", *TEXT), ("data/weights/text/vanilla/*/*",)),
    (finetune, QUICK, DATA),
    (evaluate, QUICK, DATA),
    (report, REPORT, ("data/evaluations/quick/*/*",)),
    (page, (), ("data/cost/*/*", "data/influence/*/*", "data/grid/results/*", "data/passages/*")),
]
NAMES = [command.__name__.rpartition(".")[2] for command, *_ in READ]
MOST = settings.default.max_examples // 3 if settings.default else 16
SLOW = (report, page, evaluate)


@pytest.fixture(scope="module", name="made")
def made_fixture(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with all that the commands read."""
    folder = tmp_path_factory.mktemp("made") / "project"
    shutil.copytree(project, folder)

    def one(content: dict[str, Any]) -> None:
        tiny(content)
        content["study"]["compared"] = ["vanilla", "rope"]
        content["variants"] = {name: content["variants"][name] for name in ("vanilla", "rope")}
        content["influence"]["settings"], content["grid"]["variants"] = {}, ["vanilla"]

    write_params(folder, one)
    prepared = Prepared.load(folder / "data/prepared/quick")
    asked = {"train": QUESTIONS, "dev": QUESTIONS, "test": []}
    known = audit(DOCUMENTS, asked, prepared.vocabulary)
    unknown = known[known.split == "dev"].assign(split="test", in_page=0, position=-1, train_count=0)

    write_table(folder / "data/prepared/quick/audit.tsv", pd.concat([known, unknown]))
    with_sums(folder / "data/prepared/quick")
    evaluations = folder / "data/evaluations/quick"
    write_baseline(evaluations)
    right = [[1, 0, 1, 1, 0, 0, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0, 1, 0]]
    for variant in ("vanilla", "rope"):
        write_variant(evaluations, variant, right[::-1], right, curve_rows=3)
        write_data(folder / "data", variant)
    write_texts(folder / "data")
    return folder


@pytest.mark.parametrize(("command", "arguments", "patterns"), READ, ids=NAMES)
def test_any_change_by_hand(
    run_in: Run,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Any,
    arguments: tuple[str, ...],
    patterns: tuple[str, ...],
) -> None:
    def trained(*_: Any) -> None:
        raise StudyError("all was read")

    found, most = explore(samples=20), MOST // (3 if command in SLOW else 1)
    monkeypatch.setattr("stages.training.run.train", trained)
    monkeypatch.setattr("stages.method.page.explore", lambda: found)
    files = sorted(path for each in patterns for path in made.glob(each) if path.name != "SHA256SUMS")
    kept = contents(made)

    def restored() -> None:
        for path in contents(made).keys() - kept.keys():
            path.unlink()
        for path, content in kept.items():
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    unchanged = run_in(made, command, *arguments)
    assert unchanged.code == 0 or "all was read" in unchanged.err
    restored()

    @settings(in_one_project, max_examples=most)
    @given(data=st.data())
    def any_change(data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(files))
        with with_content(path, by_hand(path, data, VALUES), sums=True):
            before = contents(made)
            with nullcontext() if command in SLOW else bounded():
                outcome = run_in(made, command, *arguments)
            assert_told(outcome.code, outcome.err)
            if outcome.code:
                changed = {file for file, content in contents(made).items() if before.get(file) != content}
                assert not {file for file in changed if "work" not in file.parts}
                told = outcome.err.splitlines()[-1]
                assert str(path.parent.relative_to(made)) in told or "all was read" in told, told
        restored()

    try:
        any_change()
    finally:
        restored()
