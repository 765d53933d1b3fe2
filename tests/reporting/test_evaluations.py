"""Evaluations are read whole, also from parts, and their figures reach metrics.json as reckoned by hand."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages.report import provenances
from stages.reporting.evaluations import Evaluation, read_evaluation, report_metrics
from stages.system.errors import UserError
from stages.system.files import write_json
from tests.support.example import BASELINE, PROVENANCE, Correct, evaluated, write_variant

TABLES = ("predictions", "extraction", "prefix_offset", "origins")
KEYS = {  # which DVC compares from commit to commit; others may be added
    "scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high", "lift_over_baseline",
    "seeds", "parameters", "pretrain_loss", "documents_per_second",
}  # fmt: skip
NONE, HALF, MOST = [0] * 10, [1] * 5 + [0] * 5, [1] * 8 + [0] * 2


def evaluation(folder: Path, variant: str, pretrained: Correct, scratch: Correct = (NONE, NONE)) -> Evaluation:
    return evaluated(folder, variant, scratch, pretrained, curve_rows=2)


def test_figures_equal_the_hand_reckoned(tmp_path: Path) -> None:
    answers = ([1] * 6 + [0] * 4, [0] * 6 + [1] * 4)
    rope = evaluation(tmp_path, "rope", answers, scratch=([1] + [0] * 9, NONE))
    metrics = report_metrics("quick", "rope", [rope], BASELINE)
    assert rope.pretrained.by_seed == [60.0, 40.0]
    figures = metrics["selected"]
    assert {"variant": "rope"} | metrics["variants"].pop("rope") == figures and not metrics["variants"]
    assert figures["dev_accuracy_ci_low"] < 50 < figures["dev_accuracy_ci_high"]
    reckoned = {
        "scratch_dev_accuracy": 5.0,  # 1 + 0 of 20: the test row of each seed does not count
        "dev_accuracy": 50.0,  # 6 + 4 of 20
        "lift_over_baseline": 40.0,  # points
        "seeds": 2,
        "parameters": 3290624,
        "pretrain_loss": 0.1235,
        "documents_per_second": 1234.6,
    }
    assert figures.items() >= reckoned.items()


def test_of_several_the_best_is_selected_the_first_by_name_among_equals_and_keys_are_the_same(tmp_path: Path) -> None:
    answers = {"mqa": (HALF, NONE), "rope": (MOST, NONE), "window": (MOST, HALF)}
    evaluations = [
        evaluation(tmp_path, name, (right,) * 2, (scratch,) * 2) for name, (right, scratch) in answers.items()
    ]
    metrics = report_metrics("quick", "compared", evaluations, BASELINE)
    selected = metrics["variants"]["rope"]
    assert metrics["selected"] == {"variant": "rope"} | selected != {"variant": "rope"} | metrics["variants"]["window"]
    assert list(metrics) == ["recipe", "variant", "baseline", "letters", "rule", "reader", "selected", "variants"]
    assert all(figures.keys() == selected.keys() >= KEYS for figures in metrics["variants"].values())
    assert json.loads(json.dumps(metrics)) == metrics  # plain numbers only


def test_a_test_with_answers_is_scored_beside_dev(tmp_path: Path) -> None:
    rope = evaluation(tmp_path, "rope", (HALF, HALF))
    assert "test_accuracy" not in report_metrics("own", "rope", [rope], BASELINE)["selected"]
    changes = {
        "baseline/questions.tsv": ("Tam born?\t", "Tam born?\tRome"),
        "rope/predictions.tsv": ("\tRome\t", "\tRome\t1"),
    }
    for name, (before, after) in changes.items():
        path = tmp_path / name
        path.write_text(path.read_text().replace(before, after))
    rope = read_evaluation(tmp_path / "rope", tmp_path / "baseline")
    assert report_metrics("own", "rope", [rope], BASELINE)["selected"]["test_accuracy"] == 100.0


def part(folder: Path, whole: Path, seed: int, **figures: Any) -> None:
    """The evaluation of one of the seeds of a whole one; figures: of its run.json, and of its provenance."""
    folder.mkdir(parents=True)
    for name in (*(f"{table}.tsv" for table in TABLES), "curves.csv"):
        separator = "," if name.endswith(".csv") else "\t"
        table = pd.read_csv(whole / name, sep=separator, dtype=str, keep_default_na=False)
        table[table.seed == str(seed)].to_csv(folder / name, sep=separator, index=False)
    run = json.loads((whole / "run.json").read_text()) | {"pretrain_seconds": {str(seed): 10.0 * seed}}
    provenance = PROVENANCE | {"settings": {"variant": {"rope": {"theta": 1.0}}, "seeds": [seed]}} | figures
    write_json(folder / "run.json", run | figures | {"provenance": [provenance]})


def test_parts_are_the_whole_again(tmp_path: Path) -> None:
    before = evaluated(tmp_path, "rope", ([0, 0],) * 2, ([1, 0], [1, 1]))
    whole, parts = tmp_path / "rope", tmp_path / "parts" / "rope"
    part(parts / "a", whole, 1, device="one", pretrain_loss=0.5, documents_per_second=10.0)
    libraries = {"torch": "2.14.0"}
    part(parts / "b", whole, 2, device="two", pretrain_loss=0.25, documents_per_second=2.5, libraries=libraries)
    after = read_evaluation(parts, tmp_path / "baseline")
    for name in ("curves", *TABLES):
        tables = [getattr(evaluation, name) for evaluation in (before, after)]
        rows = [table.sort_values([*table.columns]).reset_index(drop=True) for table in tables]
        pd.testing.assert_frame_equal(*rows)
    figures = report_metrics("quick", "rope", [after], BASELINE)["selected"]
    assert (figures["pretrain_loss"], after.minutes) == (0.375, 0.25)
    assert figures["documents_per_second"] == 4.0  # two seeds of 10 documents take 1 and 4 seconds
    joined = ("0123456789", "one + two", "float32", "compiled", "python 3.11.7, torch 2.13.0 + torch 2.14.0")
    assert provenances([after]) == {joined: ["rope"]}


def test_answers_that_are_incomplete_of_other_settings_or_to_other_questions_are_refused(tmp_path: Path) -> None:
    message = "rope: pretrained does not answer each of the baseline's 10 dev questions once per seed"
    with pytest.raises(UserError, match=message):
        evaluation(tmp_path, "rope", (HALF, HALF[:9]))
    write_variant(tmp_path, "rope", (NONE, NONE), (HALF, HALF))
    parts = tmp_path / "parts" / "rope"
    part(parts / "a", tmp_path / "rope", 1)
    part(parts / "b", tmp_path / "rope", 2, settings={"variant": {"rope": {"theta": 2.0}}})
    with pytest.raises(UserError, match=r"another `variant\.rope\.theta`"):
        read_evaluation(parts, tmp_path / "baseline")
    questions = tmp_path / "baseline/questions.tsv"
    questions.write_text(questions.read_text().replace("Bergen", "Milan"))
    with pytest.raises(UserError, match=message.replace("pretrained", "scratch|pretrained")):
        read_evaluation(tmp_path / "rope", tmp_path / "baseline")
