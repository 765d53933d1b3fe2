"""The first screen's tables and figure: shares and intervals that are counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.collections import LineCollection

from stages.reporting.accuracies import MOST_FORMS, answers_table, differences_between, draw_accuracy, forms_table
from stages.reporting.evaluations import Answers, Evaluation
from tests.support.example import BASELINE, evaluated
from tests.support.pages import cells

BORN, STUDIED = "Where was NAME born?", "What did NAME study?"


@pytest.fixture(name="evaluation")
def evaluation_fixture(tmp_path: Path) -> Evaluation:
    """A variant that answers 5 of 10 questions and says `Nowhere` to the others; scratch answers none."""
    marks = [1] * 5 + [0] * 5
    return evaluated(tmp_path, "x", [[0] * 10] * 2, [marks] * 2, curve_rows=2)


def test_variants_stand_beside_the_baselines_with_wilsons_intervals(evaluation: Evaluation) -> None:
    text = answers_table([evaluation], BASELINE)
    # the reader knows rows 1, 3, 5, 7, 9, the rule 4, 6, 8, 10; else they say `Nowhere`, as the model of 6 to 10
    assert cells(text, "x") == [["50.0 (23.7 to 76.3)", "0.0 (0.0 to 27.8)", "60.0"]]
    assert cells(text, "the reader") == [["50.0 (23.7 to 76.3)", "", "100.0"]]
    assert cells(text, "the rule") == [["40.0 (16.8 to 68.7)", "", "10.0"]]
    assert cells(text, "the letters") == [["0.0 (0.0 to 27.8)", "", "0.0"]]
    assert cells(text, "always London") == [["10.0 (1.8 to 40.4)", "", "0.0"]]  # scipy's binomtest(1, 10)
    assert cells(text, "ceiling") == [["95.8", "", ""]]


def test_answers_to_test_have_a_column_where_they_are_marked(evaluation: Evaluation) -> None:
    of_two = (getattr(evaluation.pretrained, name)[:2] for name in ("correct", "probability", "predicted", "asked"))
    (row,) = cells(answers_table([replace(evaluation, test=Answers(*of_two))], BASELINE), "x")
    assert row[2].startswith("100.0 (") and len(row) == 4


def with_forms(evaluation: Evaluation, forms: list[str]) -> Evaluation:
    """The same answers to questions of other forms."""
    asked = evaluation.pretrained.asked.assign(form=forms)
    return replace(evaluation, pretrained=replace(evaluation.pretrained, asked=asked))


def test_each_form_of_question_has_its_own_accuracies(evaluation: Evaluation) -> None:
    text = forms_table([with_forms(evaluation, [BORN] * 4 + [STUDIED] * 5 + [""])])
    # the model knows rows 1 to 5, the reader 1, 3, 5, 7, 9, the rule 4, 6, 8, 10
    assert cells(text, STUDIED) == [["5", "20.0", "60.0", "40.0"]]
    assert cells(text, BORN) == [["4", "100.0", "50.0", "25.0"]]
    assert cells(text, "another form") == [["1", "0.0", "0.0", "100.0"]]
    assert text.index(STUDIED) < text.index(BORN) < text.index("another form")  # the commonest first
    for alike in ([BORN] * 10, [""] * 10):
        assert not forms_table([with_forms(evaluation, alike)])


def test_many_forms_are_joined(tmp_path: Path) -> None:
    count = 2 * MOST_FORMS
    evaluation = evaluated(tmp_path, "x", [[0] * count], [[1] * count], curve_rows=2)
    text = forms_table([with_forms(evaluation, [f"{BORN} {number}" for number in range(count)])])
    assert text.count(BORN) == MOST_FORMS and cells(text, "another form")[0][:2] == [f"{MOST_FORMS}", "100.0"]


@pytest.mark.parametrize(("variants", "pairs"), [(1, 0), (4, 6), (5, 10), (6, 5), (14, 13)])
def test_many_variants_are_compared_with_one_that_their_answers_do_not_choose(
    tmp_path: Path, variants: int, pairs: int
) -> None:
    marks = {f"v{number}": [[1] * (40 - number) + [0] * (10 + number)] * 3 for number in range(variants)}
    several = [evaluated(tmp_path, name, [[0] * 50] * 3, rows, curve_rows=2) for name, rows in marks.items()]
    differences = differences_between(several, "v3")
    assert len(differences) == pairs
    assert variants < 6 or all("v3" in (pair.first, pair.second) and pair.points >= 0 for pair in differences)


def test_bars_whiskers_and_lines_are_where_their_figures_are(tmp_path: Path) -> None:
    marks = ([1] + [0] * 9, [1] + [0] * 9), ([1] * 8 + [0] * 2, [1] * 6 + [0] * 4)
    names = ["rope", "vanilla"]
    evaluations = [evaluated(tmp_path, name, *marks, curve_rows=2) for name in names]
    (axes,) = draw_accuracy(evaluations, BASELINE).axes
    assert [name.get_text() for name in axes.get_yticklabels()] == names
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([70, 70, 10, 10])  # pretrained, then scratch
    whiskers = [lines.get_segments()[0][:, 0] for lines in axes.collections if isinstance(lines, LineCollection)]
    assert whiskers[0].tolist() == pytest.approx(evaluations[0].pretrained.interval)
    assert whiskers[1].tolist() == pytest.approx(evaluations[0].scratch.interval)
    lines = {line.get_label(): line.get_xdata()[0] for line in axes.lines if not line.get_label().startswith("_")}
    assert lines == {
        "always London: 10.0 %": 10.0, "the rule, which sees the page: 40.0 %": 40.0,
        "the reader, which sees it, too: 50.0 %": 50.0, "ceiling: 95.8 %": 95.8,
    }  # fmt: skip
