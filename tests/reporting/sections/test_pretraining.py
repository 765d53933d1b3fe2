"""The section on what pretraining added says what the answers hold."""

from pathlib import Path

import numpy as np
import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.pretraining import Agreement, agreement, by_chance, changes, pretraining_part
from stages.reporting.sections.pretraining_figure import draw_pretraining
from stages.reporting.template import Part
from tests.reporting.example import PLACES, Correct, write_variant


def result(folder: Path, name: str, scratch: Correct, pretrained: Correct) -> Result:
    write_variant(folder, name, scratch, pretrained, curve_rows=2)
    return summarise(read_evaluation(folder / name), len(scratch[0]))


def first(hits: int, questions: int = 50) -> list[int]:
    return [1] * hits + [0] * (questions - hits)


def section(*results: Result, show_questions: bool = True) -> Part:
    return pretraining_part(changes(results), show_questions)


def test_gained_and_lost_questions_are_counted_by_hand(tmp_path: Path) -> None:
    (change,) = changes([result(tmp_path, "rope", ([1, 1, 0, 0, 0],), ([0, 1, 1, 1, 0],))])
    assert (change.gained.tolist(), change.lost.tolist()) == ([2, 3], [0])
    assert change.found.points == 20.0
    assert change.found.p == 1.0  # 2 of 3
    (change,) = changes([result(tmp_path, "rope", ([1, 1, 0], [0, 0, 0]), ([0, 1, 1], [1, 1, 1]))])
    assert (change.gained.tolist(), change.lost.tolist()) == ([1, 2], [])  # the first: one seed before, one after


def test_rows_are_in_the_order_of_numbers(tmp_path: Path) -> None:
    (change,) = changes([result(tmp_path, "rope", (first(0, 12),), (first(11, 12),))])
    assert change.pretrained.rows.tolist() == list(range(1, 13))
    assert change.gained.tolist() == list(range(11))


def test_agreement_between_seeds_by_hand() -> None:
    correct = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    assert agreement(correct) == Agreement(every=1, some=2, none=1)
    assert by_chance(correct) == pytest.approx(1.0)  # 4 · ½ · ½
    assert agreement(correct[:, :1]) == Agreement(2, 0, 2)


def test_sentences_of_a_clear_gain_with_two_seeds(tmp_path: Path) -> None:
    part = section(result(tmp_path, "rope", (first(0), first(0)), (first(30), first(20))))
    assert (
        "Pretraining adds right answers, more than chance would, for rope, which gains 30 questions and loses none. "
        "Both of its seeds are right for 20 questions, one for 10, neither for 20; if each seed's right answers fell "
        "on questions at random, all would be right for 12 questions."
    ) in part.text
    assert "| rope | 30 | 0 | +50.0 (" in part.text
    assert "| &lt; 0.001 | &lt; 0.001 | 20 | 10 | 20 |" in part.text


def test_sentences_of_a_loss_and_of_no_change(tmp_path: Path) -> None:
    lost = result(tmp_path, "mqa", (first(20),), (first(0),))
    same = result(tmp_path, "rope", (first(20),), (first(20),))
    gain = result(tmp_path, "vanilla", (first(1),), (first(40),))
    text = section(gain, same, lost).text
    assert (
        "Pretraining adds right answers, more than chance would, for vanilla; it takes right answers away for mqa; "
        "no change is shown for rope. The best, vanilla, gains 39 questions and loses none.\n"
    ) in text
    assert "seeds" not in text.split("![")[0]  # there is one seed
    assert "right by all seeds" not in text
    alone = section(lost).text
    assert "Pretraining takes right answers away for mqa, which gains no question and loses 20." in alone
    assert "No change" not in alone
    known_nothing = result(tmp_path, "rope", (first(0), first(0)), (first(0), first(0)))
    nothing = section(known_nothing).text
    assert "No change by pretraining is shown for rope, which gains no question and loses none.\n" in nothing
    assert "No question was gained or lost with seed 1." in nothing
    assert (
        "No change by pretraining is shown for any variant."
        in section(known_nothing, result(tmp_path, "mqa", (first(9),), (first(9),))).text
    )


def test_examples_show_both_answers(tmp_path: Path) -> None:
    text = section(result(tmp_path, "rope", ([1, 0, 0],), ([0, 1, 0],))).text
    assert "| rope | gained | 2 | Where was Person 2 born? | Nowhere | Lima | Lima |" in text
    assert "| rope | lost | 1 | Where was Person 1 born? | Bergen | Nowhere | Bergen |" in text


def test_hidden_questions_leave_row_numbers(tmp_path: Path) -> None:
    part = section(result(tmp_path, "rope", ([1, 0, 0],), ([0, 1, 1],)), show_questions=False)
    assert "| rope | 2, 3 | 1 |" in part.text
    for secret in ("Where", "Person", "Nowhere", *PLACES):
        assert secret not in part.text + part.files["pretraining.svg"]


def test_a_variant_that_never_answers_shows_nothing_as_its_answer(tmp_path: Path) -> None:
    write_variant(tmp_path, "rope", ([1, 0],), ([0, 0],), curve_rows=2)
    path = tmp_path / "rope" / "predictions.tsv"
    path.write_text(path.read_text().replace("Nowhere", ""))
    text = section(summarise(read_evaluation(tmp_path / "rope"), 2)).text
    assert "| rope | lost | 1 | Where was Person 1 born? | Bergen | *nothing* | Bergen |" in text


@pytest.mark.parametrize("counts", [(420, 3), (74, 8), (9, 480), (5, 5)])
@pytest.mark.parametrize(("number", "seeds"), [(1, 1), (4, 2), (14, 3)])
def test_the_picture_has_a_bar_a_count_and_names_that_fit(number: int, seeds: int, counts: tuple[int, int]) -> None:
    names = [f"random_synthesizer_{place}" for place in range(number)]
    agreed = {name: (300, 120, 80) for name in names if seeds > 1}
    figure = draw_pretraining(dict.fromkeys(names, counts), agreed)
    figure.draw_without_rendering()
    assert [len(axes.patches) for axes in figure.axes] == [2 * number, 3 * number][: 1 + (seeds > 1)]
    assert all(label.get_window_extent().x0 >= 0 for label in figure.axes[0].get_yticklabels())
    panel = figure.axes[0].get_window_extent()
    for text in figure.axes[0].texts:
        assert panel.x0 <= text.get_window_extent().x0 < text.get_window_extent().x1 <= panel.x1
    (legend,) = figure.legends
    assert all(not legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_the_picture_stands_without_any_change() -> None:
    figure = draw_pretraining({"rope": (0, 0)}, {"rope": (0, 0, 1)})
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_xlim()
    assert low < 0 < high
