"""The page of a study: means, intervals, figures and marks are those of its rows."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

from stages.reporting.statistics import accuracy_interval, wilson
from stages.trials.study import plan as plans
from stages.trials.study.groups import Group, axis_of, groups_of, interval
from stages.trials.study.page import apart, write_study
from stages.trials.study.plan import Plan
from stages.trials.study.row import MEASURES, Cell, Row, write_rows
from tests.support.pages import committed
from tests.support.tiny import ROOT, SETTINGS
from tests.test_dependencies import STAGES
from tests.trials.test_plan import row_of

CELL = Cell(change="a", variant="rope", seed=1)


def marked(marks: str, seed: int = 1, world: str = "") -> Row:
    cell = CELL.model_copy(update={"seed": seed, "world": world})
    return row_of(cell, questions=len(marks), right=marks.count("1"), right_marks=marks)


def test_the_interval_of_answers_to_the_same_questions_is_that_of_reports() -> None:
    marks = ["1101110110", "1111110100", "1001110111"]
    expected = accuracy_interval(np.array([[*map(int, of_row)] for of_row in marks]).T)
    rows = [marked(of_row, seed) for seed, of_row in enumerate(marks)]
    assert interval(rows, MEASURES["answered"]) == pytest.approx([100 * end for end in expected])


def test_the_interval_of_worlds_and_of_other_figures_is_students() -> None:
    rows = [marked(marks, world=str(number)) for number, marks in enumerate(["1110", "1100", "1111", "1000"])]
    low, high = stats.t.interval(0.95, 3, loc=62.5, scale=stats.sem([75, 50, 100, 25]))
    assert interval(rows, MEASURES["answered"]) == pytest.approx((low, min(100, high)))
    losses = [row_of(CELL, loss=value) for value in (1.0, 2.0, 4.0)]
    expected = stats.t.interval(0.95, 2, loc=7 / 3, scale=stats.sem([1, 2, 4]))
    assert interval(losses, MEASURES["loss"]) == pytest.approx(expected)


def test_a_share_without_marks_has_wilsons_interval_and_two_trainings_have_none() -> None:
    one = row_of(CELL, questions=400, right=371)
    assert interval([one], MEASURES["answered"]) == pytest.approx([100 * end for end in wilson(0.9275, 400)])
    assert Group(CELL, [one, one]).shown(MEASURES["answered"]) == "92.8"
    assert Group(CELL, [one]).shown(MEASURES["page_bits"]) == "–"


def test_an_interval_is_of_questions_that_there_are_and_of_shares_that_can_be() -> None:
    """Where no page tells an answer nothing is memorised; where all trainings are equal nothing is spread."""
    rows = [row_of(CELL, facts=0, memorised=0, memorised_marks="-" * 10) for _ in range(3)]
    assert interval(rows, MEASURES["memorised"]) == ()
    assert interval([row_of(CELL, facts=95, memorised=94)] * 3, MEASURES["memorised"]) == ()
    spread = [row_of(CELL, own_page=number) for number in (0, 0, 9)]
    assert interval(spread, MEASURES["own_page"]) == (0, 100)
    unlikelier = [row_of(CELL, question_share=share) for share in (-0.1, -0.1, 0.0)]
    assert interval(unlikelier, MEASURES["question_share"])[0] < -10


def test_the_axis_is_the_swept_number_with_the_most_values() -> None:
    def groups(*swept: str) -> list[Group]:
        return [Group(CELL.model_copy(update={"swept": values}), []) for values in swept]

    assert axis_of(groups('{"x": 1, "y": 1}', '{"x": 2, "y": 1}', '{"x": 3, "y": 2}')) == "x"
    assert axis_of(groups('{"x": "a"}', '{"x": "b"}', '{"x": "c"}')) is None
    assert axis_of(groups('{"x": 1}', '{"x": 2}')) is None


@pytest.fixture(name="plan")
def plan_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A study with rows of two variants; that of one was made with other settings."""
    folder = tmp_path / "stages" / "trials"
    folder.mkdir(parents=True)
    monkeypatch.setattr(plans, "FOLDER", folder)
    monkeypatch.chdir(tmp_path)
    study = {"question": "*What?*", "expected": "<b>That</b>.", "found": "This.", "note": "See there."}
    study |= {"recipe": "quick", "variants": ["rope", "vanilla"], "changes": {"a": {"pretrain.epochs": 7}}}
    (folder / "mine.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    plan = Plan("mine", SETTINGS)
    rope, vanilla = plan.cells
    write_rows("mine", [row_of(rope, settings=plan.digest(rope)), row_of(vanilla, settings="old", right=9)])
    return Plan("mine", SETTINGS)


def test_a_page_has_what_was_asked_expected_and_found_and_marks_old_rows(plan: Plan) -> None:
    write_study(plan)
    page = Path("reports/trials/mine/page/report.md").read_text(encoding="utf-8")
    said = ("&#42;What?", "&lt;b&gt;That", "**Found.** This.", "See there.", "`pretrain.epochs: 7`", "| rope | 50.0")
    assert [part for part in said if part not in page] == []
    assert re.search(r"\| vanilla \| 90.0[^\n]+\| 1 † \|", page)
    assert "† 1 of the trainings had other settings" in page
    assert "svg" in Path("reports/trials/mine/page/index.html").read_text(encoding="utf-8")


STUDIES = sorted(path.parent.name for path in (ROOT / "reports/trials").glob("*/rows.csv"))


@pytest.mark.parametrize("name", STUDIES)
def test_every_committed_page_is_what_its_rows_make(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = committed(f"reports/trials/{name}/page/report.md").decode()
    plan = Plan(name, SETTINGS)
    figures = [group.shown(MEASURES[measure]) for group in groups_of(plan) for measure in plan.study.measures]
    assert [figure for figure in figures if figure not in page] == []


@pytest.mark.parametrize("name", STUDIES)
def test_every_interval_holds_its_mean(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for group in groups_of(plan := Plan(name, SETTINGS)):
        for measure in map(MEASURES.__getitem__, plan.study.measures):
            if ends := interval(group.rows, measure):
                assert ends[0] <= group.mean(measure) + 1e-9 and group.mean(measure) <= ends[1] + 1e-9, measure.title


def test_a_study_with_rows_has_a_stage_and_a_page_and_no_other_has_a_stage() -> None:
    outs = [path for name, stage in STAGES.items() if name.startswith("stages/trials/") for path, *_ in stage["outs"]]
    listed = sorted(path.parent.name for path in map(Path, outs) if path.name == "page")
    assert listed == STUDIES  # else `dvc commit` and `dvc status` would miss files
    assert all((ROOT / "reports/trials" / name / "page/report.md").is_file() for name in STUDIES)


def test_labels_that_would_touch_are_left_out() -> None:
    assert apart([32, 36, 64, 72, 128, 144]) == [0, 2, 3, 4, 5] and apart([1.0]) == [0]
