"""Trials from file to row: each is trained by the stages' own code, asked, and measured as it says."""

import json
import re
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from stages.asking.prompts import PAGE_FORMS
from stages.jobs.executor import run_job
from stages.jobs.job import Job
from stages.settings.sources import Pairs
from stages.sources.pairs import draw_pairs, people_for, prepared_pairs
from stages.system.errors import UserError
from stages.trials import __main__ as trials
from stages.trials import jobs
from stages.trials.jobs import job_of
from stages.trials.study.row import Row, add_row, read_rows
from stages.trials.trial import asked, pairs_stored, place_entropy
from tests.support.project import small, write_params
from tests.support.talking import Run
from tests.support.tiny import loud, tiny_model
from tests.support.toy import learned, toy_experiment, toy_prepared
from tests.trials.test_plan import row_of, write_study

TINY = {"layers": 2, "heads": 2, "width": 16, "context": 64}


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of seconds, in which studies are written."""
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path, small)
    return tmp_path


@pytest.fixture(name="carried_out")
def carried_out_fixture(folder: Path, run_in: Run, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Carry out a study in this process; its rows, the names of the jobs, and the page."""
    done = []

    def run_jobs(_: str, jobs: Sequence[Job], side_by_side: int, ended: Any) -> None:
        for job in [job for job in jobs if job.result is None]:
            run_job(job)
            done.append(job.name)
            ended(job)

    monkeypatch.setattr(trials, "run_jobs", run_jobs)

    def carry(**content: Any) -> tuple[list[Row], list[str], str]:
        done.clear()
        write_study(**{"variants": ["rope"]} | content)
        outcome = run_in(folder, trials, "mine")
        assert outcome.code == 0, outcome.err
        return read_rows("mine"), [*done], Path("reports/trials/mine/page/report.md").read_text(encoding="utf-8")

    return carry


def test_a_study_trains_what_lacks_a_row_and_writes_rows_and_page(carried_out: Any) -> None:
    changes: dict[str, Any] = {"epochs": {"pretrain.epochs": [1, 2]}}
    rows, done, page = carried_out(changes=changes, seeds=[3])
    assert (len(rows), len(done)) == (2, 2)
    assert [(row.epochs, row.questions, len(row.right_marks)) for row in rows] == [(1, 20, 20), (2, 20, 20)]
    assert rows[1].characters > rows[0].characters > 0
    assert all(0 < row.facts < 20 and row.memorised_marks.count("-") == 20 - row.facts for row in rows)
    assert re.search(r"\| 2 \| [^\n]+ \| 1 \|", page) and "2 of 2 trainings have ended" in page

    Path("reports/trials/mine/rows.csv").unlink()
    rows, done, _ = carried_out(changes=changes | {"more": {"data.left_out": 2}}, seeds=[3])
    assert (len(rows), len(done)) == (3, 1)  # a result that work/ has is a row without training
    assert len(json.loads(rows[2].said)) == 2 and rows[2].facts <= rows[0].facts
    assert "born" not in "".join(row.model_dump_json() for row in rows)


def test_cells_of_the_same_settings_are_one_training_and_a_row_each(carried_out: Any) -> None:
    rows, done, _ = carried_out(changes={"recipe": {}, "swept": {"pretrain.epochs": [1, 2]}})
    assert [(row.change, row.epochs) for row in rows] == [("recipe", 1), ("swept", 1), ("swept", 2)]
    assert len(done) == 2


def test_worlds_and_held_out_questions_take_the_place_of_the_recipes_own(carried_out: Any) -> None:
    rows, _, _ = carried_out(worlds=[5, 6], held_out=7)
    assert [(row.world, row.questions) for row in rows] == [("5", 7), ("6", 7)]
    assert rows[0].memorised_marks != rows[1].memorised_marks or rows[0].characters != rows[1].characters


def test_a_model_of_a_text_is_scored_on_the_same_windows_and_writes_at_each_temperature(
    carried_out: Any, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("To be or not to be, that is the question.\n" * 200, encoding="utf-8")
    change = {"sources.text.path": "own.txt"}
    rows, _, page = carried_out(recipe="text", changes={"own": change}, measures=["window_loss", "recited_0"])
    figures = json.loads(rows[0].text)
    assert 0 < figures["window_loss"] < 8 and 0 <= figures["recited_1"] <= 100
    assert "What is written" in page

    (tmp_path / "own.txt").write_text("That is another question.\n" * 200, encoding="utf-8")
    Path("reports/trials/mine/rows.csv").unlink()
    (row,), done, _ = carried_out(recipe="text", changes={"own": change}, measures=["window_loss", "recited_0"])
    assert done and row.characters != rows[0].characters  # the file is read anew


@pytest.mark.parametrize("token", [False, True])
def test_pairs_hold_as_many_bits_as_the_load_asks_of_the_parameters(carried_out: Any, token: bool) -> None:
    change = {f"model.{key}": value for key, value in TINY.items()}
    change |= {"sources.pairs.token": token, "sources.pairs.load": 0.1, "pretrain.epochs": 1}
    rows, _, _ = carried_out(recipe="pairs", changes={"pairs": change}, measures=["stored", "bits_a_parameter"])
    (row,) = rows
    # a name of one token adds parameters, and no people
    assert token or row.bits_asked / row.parameters == pytest.approx(0.1, rel=0.1)
    assert row.bits_stored < row.bits_asked and row.questions > 20


def test_bits_stored_are_the_bits_asked_less_the_models_code_length() -> None:
    """A model that finds every character as likely spends log₂ V bits on each."""
    drawn = draw_pairs(30, seed=1)
    prepared = prepared_pairs(drawn, token=False)
    model = tiny_model("vanilla", len(prepared.vocabulary))
    model.head.weight.data.zero_()
    stored = pairs_stored(model, prepared, seed=1)
    characters = sum(len(pair.place) + 1 for pair in drawn)
    expected = sum(pair.bits for pair in drawn) - characters * log2(len(prepared.vocabulary))
    assert stored["bits_stored"] == pytest.approx(expected, abs=0.2)
    assert (stored["questions"], stored["right"]) == (30, 0)
    assert people_for(Pairs(seed=1, load=2.0, token=False), 7234) == 2000


@pytest.mark.parametrize("stage", ["pretrained", "finetuned", "scratch"])
def test_what_is_memorised_is_of_the_pretrained_model_and_what_is_answered_of_the_finetuned(stage: str) -> None:
    prepared = toy_prepared()
    nonsense = loud(tiny_model("vanilla", len(prepared.vocabulary)))
    knowing = learned(PAGE_FORMS if stage == "pretrained" else ("question",))
    models = dict.fromkeys(("pretrained", "finetuned", "scratch"), nonsense) | {stage: knowing}
    row = asked(toy_experiment(), prepared, models)
    knows, answers = 8 * (stage == "pretrained"), 8 * (stage == "finetuned")
    assert (row["memorised"], row["right"], row["scratch"]) == (knows, answers, 8 * (stage == "scratch"))
    assert row["right_marks"] == ("1" if answers else "0") * 8
    assert row["own_page"] == row["both"] == 0
    if stage == "finetuned":
        assert row["question_bits"] > row["page_bits"] and row["question_share"] > 0.9


def test_eight_places_have_three_bits_of_entropy() -> None:
    assert place_entropy(toy_prepared()) == pytest.approx(3)


def test_cells_that_share_a_pretraining_do_not_stand_side_by_side(folder: Path) -> None:
    rounds = {"finetune.pretrained_epochs": [1, 2]}
    plan = write_study(variants=["rope"], seeds=[1, 2], changes={"rounds": rounds})
    assert [cell.seed for cell in trials.in_turns(plan, plan.cells)] == [1, 2, 1, 2]


def test_the_data_of_pairs_are_made_anew_for_other_code_of_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = {f"model.{key}": value for key, value in TINY.items()} | {"sources.pairs.load": 0.01}
    plan = write_study(variants=["rope"], recipe="pairs", changes={"small": change})
    before = job_of(plan, plan.cells[0]).prepared
    code = jobs.code_digest
    monkeypatch.setattr(jobs, "code_digest", lambda *names: code(*names) + ("changed" if "model" in names else ""))
    assert job_of(plan, plan.cells[0]).prepared != before


def test_two_studies_do_not_make_the_same_data_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = write_study(variants=["rope"])
    made = job_of(plan, plan.cells[0]).prepared.parent
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    with FileLock(made.with_suffix(".lock")), pytest.raises(UserError, match="is at work here already"):
        job_of(plan, plan.cells[0])


def test_the_plan_checks_all_trainings_and_lists_those_without_a_row(folder: Path, run_in: Run) -> None:
    plan = write_study(variants=["rope"], seeds=[1, 2])
    add_row("mine", row_of(plan.cells[0], settings="old"))
    printed = run_in(folder, trials, "mine", "--plan").out
    assert printed.startswith("recipe rope seed 2\n2 trainings, 1 to be done\nnote: 1 have a row of other settings")
    assert "2 trainings, 2 to be done\n" in run_in(folder, trials, "mine", "--plan", "--again").out
    write_study(changes={"a": {"pretrain.epoch": 3}})
    assert "change a: recipes.quick.pretrain.epoch: unknown key" in run_in(folder, trials, "mine", "--plan").err
