"""The section on confidence says what the probabilities hold."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.confidence import confidence, confidence_part
from stages.reporting.sections.confidence_figure import NAMED, OTHERS, Curves, draw_confidence
from stages.reporting.statistics.calibration import coverage_curve, reliability
from stages.system.errors import StudyError
from tests.reporting.example import Correct, write_variant


def result(folder: Path, name: str, right: Correct, probability: list[list[float]] | None = None) -> Result:
    write_variant(folder, name, [[0] * len(right[0])] * len(right), right, curve_rows=2, probability=probability)
    return summarise(read_evaluation(folder / name), len(right[0]))


def text(*results: Result) -> str:
    return confidence_part(results, sorted(each.variant for each in results)).text


def first(hits: int, questions: int = 40) -> list[int]:
    return [1] * hits + [0] * (questions - hits)


SURE_WHEN_RIGHT = [0.9] * 20 + [0.1] * 20


def test_table_holds_the_hand_reckoned(tmp_path: Path) -> None:
    said = text(result(tmp_path, "rope", [first(20)], [SURE_WHEN_RIGHT]))
    # |1 - 0.9| and |0 - 0.1|; (0.1)²; accuracy alone ½ · ½
    assert "| rope | 50.0 | 50.0 | 10.0 | 0.010 (0.250) | 100.0 | 100.0 |" in said
    assert "the difference lies within the accuracy's interval. Of the half it is surest of, 100.0 % are right" in said
    assert "more than of all." in said


def test_answers_of_all_seeds_count_and_test_rows_do_not(tmp_path: Path) -> None:
    read = confidence(result(tmp_path, "rope", [first(1, 2), first(2, 2)], [[0.9, 0.2], [0.8, 0.7]]))
    assert sorted(zip(read.probability.tolist(), read.correct.tolist(), strict=True)) == [
        (0.2, 0), (0.7, 1), (0.8, 1), (0.9, 1),
    ]  # fmt: skip


def test_too_sure_and_not_sure_enough(tmp_path: Path) -> None:
    sure = text(result(tmp_path, "rope", [first(4)], [[0.9] * 20 + [0.8] * 20]))
    assert "gives its answers a probability of 85.0 % on average and is right for 10.0 %: it is too sure." in sure
    shy = text(result(tmp_path, "rope", [first(36)], [[0.2] * 20 + [0.1] * 20]))
    assert "is right for 90.0 %: it is not sure enough." in shy


def test_equal_probabilities_cannot_choose(tmp_path: Path) -> None:
    said = text(result(tmp_path, "rope", [first(10)]))  # all 0.50
    assert "All have the same probability, which cannot tell right from wrong." in said
    assert "| 25.0 | 25.0 |" in said


def test_no_and_only_right_answers(tmp_path: Path) -> None:
    assert "None of them is right, sure or not." in text(result(tmp_path, "rope", [first(0)], [SURE_WHEN_RIGHT]))
    assert "All of them are right, sure or not." in text(result(tmp_path, "rope", [first(40)], [SURE_WHEN_RIGHT]))
    text(result(tmp_path, "rope", [[0]]))  # one question
    several = text(*(result(tmp_path, name, [first(0)]) for name in ("rope", "vanilla")))
    assert "As forecasts" not in several  # where all are wrong there is nothing to tell apart


def test_confidence_that_misleads_is_told(tmp_path: Path) -> None:
    inverted = result(tmp_path, "mqa", [first(20)], [SURE_WHEN_RIGHT[::-1]])
    said = text(result(tmp_path, "rope", [first(20)], [SURE_WHEN_RIGHT]), inverted)
    assert "The expected calibration error goes from 10.0 points (rope) to 90.0 (mqa)." in said
    assert "As forecasts the probabilities of mqa are no better than the accuracy alone" in said
    assert "The expected calibration error is 90.0 points." in text(inverted)
    assert "As forecasts the probabilities of mqa are no better" in text(inverted)
    assert "0.0 % are right: fewer than of all." in text(inverted)


@pytest.mark.parametrize("wrong", ["1.5", "nan", "high"])
def test_a_probability_that_is_none_is_refused(tmp_path: Path, wrong: str) -> None:
    write_variant(tmp_path, "rope", [[0]], [[1]], curve_rows=2)
    path = tmp_path / "rope" / "predictions.tsv"
    path.write_text(path.read_text().replace("0.50", wrong))
    with pytest.raises(StudyError, match=r"rope: a dev row") as told:
        summarise(read_evaluation(tmp_path / "rope"), 1)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("number", [1, 5, 14])
def test_the_picture_names_the_best_and_greys_the_rest(number: int) -> None:
    probability = np.linspace(0.01, 0.99, 100)
    outcome = (probability > 0.4).astype(float)
    curves = Curves(reliability(probability, outcome), coverage_curve(probability, outcome))
    names = [f"random_synthesizer_{place}" for place in range(number)]
    figure = draw_confidence(dict.fromkeys(names, curves), names, 100)
    figure.draw_without_rendering()
    assert [len(axes.lines) for axes in figure.axes] == [number + 1, number]  # the diagonal
    grey = [line for line in figure.axes[1].lines if line.get_color() == OTHERS]
    assert len(grey) == max(0, number - NAMED)
    assert figure.axes[1].lines[0].get_xdata()[0] == pytest.approx(20)  # fewer answers than 20 are left out
    (legend,) = figure.legends
    assert len(legend.get_texts()) == min(number, NAMED + 1)
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)
