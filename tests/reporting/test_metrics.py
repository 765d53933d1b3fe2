"""The figures of metrics.json against values reckoned by hand."""

import json
from pathlib import Path

import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, study_metrics, summarise
from stages.system.errors import StudyError
from tests.support.example import BASELINE, Correct, evaluated, write_variant

KEYS = {  # which DVC compares from commit to commit; others may be added
    "scratch_dev_accuracy", "dev_accuracy", "dev_accuracy_ci_low", "dev_accuracy_ci_high", "lift_over_baseline",
    "seeds", "parameters", "pretrain_loss", "documents_per_second",
}  # fmt: skip
NONE, HALF, MOST = [0] * 10, [1] * 5 + [0] * 5, [1] * 8 + [0] * 2


def result(folder: Path, variant: str, pretrained: Correct, scratch: Correct = (NONE, NONE)) -> Result:
    return evaluated(folder, variant, scratch, pretrained)


def test_figures_equal_the_hand_reckoned(tmp_path: Path) -> None:
    answers = ([1] * 6 + [0] * 4, [0] * 6 + [1] * 4)
    rope = result(tmp_path, "rope", answers, scratch=([1] + [0] * 9, NONE))
    metrics = study_metrics("quick", "rope", [rope], BASELINE)
    assert rope.pretrained.by_seed == (60.0, 40.0)
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
    mqa = result(tmp_path, "mqa", (HALF, HALF))
    rope = result(tmp_path, "rope", (MOST, MOST))
    window = result(tmp_path, "window", (MOST, MOST), scratch=(HALF, HALF))
    metrics = study_metrics("quick", "compared", [window, mqa, rope], BASELINE)
    selected = metrics["variants"]["rope"]
    assert metrics["selected"] == {"variant": "rope"} | selected != {"variant": "rope"} | metrics["variants"]["window"]
    assert list(metrics) == ["recipe", "variant", "baseline", "letters", "rule", "reader", "selected", "variants"]
    assert list(metrics["variants"]) == ["mqa", "rope", "window"]
    assert all(figures.keys() == selected.keys() >= KEYS for figures in metrics["variants"].values())
    assert json.loads(json.dumps(metrics)) == metrics  # plain numbers only


def test_a_test_with_answers_is_scored_beside_dev(tmp_path: Path) -> None:
    rope = result(tmp_path, "rope", (HALF, HALF))
    assert "test_accuracy" not in study_metrics("own", "rope", [rope], BASELINE)["selected"]
    changes = {
        "baseline/questions.tsv": ("Tam born?\t", "Tam born?\tRome"),
        "rope/predictions.tsv": ("\tRome\t", "\tRome\t1"),
    }
    for name, (before, after) in changes.items():
        path = tmp_path / name
        path.write_text(path.read_text().replace(before, after))
    rope = summarise(read_evaluation(tmp_path / "rope", tmp_path / "baseline"), 10)
    assert study_metrics("own", "rope", [rope], BASELINE)["selected"]["test_accuracy"] == 100.0


def test_answers_that_are_incomplete_or_to_other_questions_are_refused(tmp_path: Path) -> None:
    message = "rope: pretrained does not answer each of the baseline's 10 dev questions"
    with pytest.raises(StudyError, match=message):
        result(tmp_path, "rope", (HALF, HALF[:9]))
    write_variant(tmp_path, "rope", (NONE, NONE), (HALF, HALF))
    questions = tmp_path / "baseline/questions.tsv"
    questions.write_text(questions.read_text().replace("Bergen", "Milan"))
    with pytest.raises(StudyError, match=message):
        summarise(read_evaluation(tmp_path / "rope", tmp_path / "baseline"), 10)
