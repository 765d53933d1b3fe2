"""The section on differences says what the comparisons found."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.difference_figure import draw_differences
from stages.reporting.sections.differences import (
    Comparison,
    comparisons,
    differences_part,
    entrants,
    in_the_table,
    leads,
    sentences,
)
from stages.reporting.statistics.significance import Difference
from stages.reporting.template import Part
from stages.system.errors import StudyError
from tests.reporting.example import PLACES, Correct, write_variant

LONDON = "always London"
YES, SEEDS, NO = Difference(9, 5, 13, 0.001, 0.01), Difference(9, -1, 19, 0.001, 0.01), Difference(1, -3, 5, 0.4, 0.8)


def said(*found: tuple[str, str, Difference]) -> str:
    compared = [Comparison(*each) for each in found]
    first, second = [each.first for each in compared], [each.second for each in compared]
    names = sorted({*first, *second}, key=lambda name: -first.count(name))
    return sentences(compared, names, "London")


def results(folder: Path, right: dict[str, Correct]) -> list[Result]:
    for name, marks in right.items():
        write_variant(folder, name, [[0] * len(marks[0])] * len(marks), marks, curve_rows=2)
    return [summarise(read_evaluation(folder / name), len(marks[0])) for name, marks in right.items()]


def first(hits: int, questions: int = 50, seeds: int = 1) -> Correct:
    return [[1] * hits + [0] * (questions - hits)] * seeds


def section(results: Sequence[Result], place: str) -> Part:
    return differences_part(comparisons(results, place), place, len(results[0].pretrained.by_seed))


def rows(text: str) -> list[Sequence[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_one_variant_is_told_apart_from_london_or_not() -> None:
    assert said(("rope", LONDON, YES)) == "rope does better than answering London every time."
    assert said((LONDON, "rope", YES)) == "rope does worse than answering London every time."
    assert said(("rope", LONDON, NO)) == "rope is not told apart from answering London every time."
    assert said(("rope", LONDON, SEEDS)) == "rope is not told apart from answering London every time."


def test_two_variants() -> None:
    london = [("rope", LONDON, YES), ("vanilla", LONDON, YES)]
    start = "Every variant does better than answering London every time."
    assert said(("rope", "vanilla", YES), *london) == f"{start} rope is ahead of the other variant."
    assert said(("rope", "vanilla", NO), *london) == f"{start} rope and vanilla are not told apart."
    assert said(("rope", "vanilla", SEEDS), *london).endswith(" rope and vanilla are not told apart.")


def test_variants_on_both_sides_of_london() -> None:
    text = said(
        ("rope", "vanilla", YES), ("rope", LONDON, YES), ("rope", "mqa", YES),
        ("vanilla", LONDON, NO), ("vanilla", "mqa", YES), (LONDON, "mqa", YES),
    )  # fmt: skip
    assert text == (
        "rope does better than answering London every time; mqa does worse than it; vanilla is not told apart from it. "
        "All 3 pairs of variants differ; rope is ahead of every other variant."
    )


def test_leads_over_london_are_above_0_where_the_variant_is_higher() -> None:
    compared = [Comparison("rope", LONDON, YES), Comparison("rope", "mqa", YES), Comparison(LONDON, "mqa", SEEDS)]
    assert leads(compared, "London") == {"rope": YES, "mqa": Difference(-9, -19, 1, 0.001, 0.01)}


def test_pairs_are_counted() -> None:
    london = [(name, LONDON, NO) for name in ("rope", "vanilla", "mqa")]
    none = said(("rope", "vanilla", NO), ("rope", "mqa", NO), ("vanilla", "mqa", NO), *london)
    assert none == (
        "No variant is told apart from answering London every time. "
        "Of the 3 pairs of variants none differs: their order may be chance."
    )
    one = said(("rope", "vanilla", NO), ("rope", "mqa", YES), ("vanilla", "mqa", SEEDS), *london)
    assert "Of the 3 pairs of variants 1 differs; rope, the first, is not told apart from vanilla." in one
    assert one.endswith("1 pair differs with these weights, but not beyond the spread between seeds.")


def test_the_constant_stands_where_its_accuracy_puts_it(tmp_path: Path) -> None:
    ranks = entrants(results(tmp_path, {"low": first(1, 10), "high": first(8, 10), "tie": first(1, 10)}), PLACES[3])
    assert [sample.name for sample in ranks] == ["high", f"always {PLACES[3]}", "low", "tie"]
    assert ranks[1].correct[:, 0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]  # row 3's place
    assert [sample.accuracy for sample in ranks] == pytest.approx([80, 10, 10, 10])


def test_table_and_file_hold_the_hand_reckoned(tmp_path: Path) -> None:
    part = section(results(tmp_path, {"rope": first(40), "vanilla": first(36)}), "London")
    assert rows(part.text)[0][:2] == ["rope", "vanilla"]
    assert rows(part.text)[0][2].startswith("+8.0 (+2.0 to +16.0)")
    assert rows(part.text)[0][3:] == ["0.125", "0.125", "not shown"]  # 4 questions, all one way: 2 / 2^4
    assert rows(part.text)[1][5] == rows(part.text)[2][5] == "yes"
    assert part.files["differences.csv"].splitlines()[1].startswith("rope,vanilla,8.0,2.0,16.0,0.125,0.125,not shown")
    assert "McNemar" in part.text and "Its p is corrected for 3 tests" in part.text
    assert "With one seed each" in part.text


def test_a_variant_below_london_is_said_to_be_worse(tmp_path: Path) -> None:
    """Every fifth gold place but the variant's is the constant's: 10 of 50 against 0."""
    part = section(results(tmp_path, {"rope": first(0, 100)}), PLACES[0])
    assert part.text.startswith(
        f"## Are the differences real?\n\nrope does worse than answering {PLACES[0]} every time."
    )
    assert set(part.files) == {"differences.csv"}  # one number is no picture
    assert "corrected for" not in part.text


def test_variants_that_know_nothing_are_not_told_apart(tmp_path: Path) -> None:
    part = section(results(tmp_path, {"rope": first(0), "vanilla": first(0), "mqa": first(0)}), "London")
    assert "none differs: their order may be chance" in part.text
    assert {row[5] for row in rows(part.text)} == {"not shown"}
    assert rows(part.text)[0][2:5] == ["+0.0 (-7.1 to +7.1)", "1.000", "1.000"]  # Wilson: 3.8415 / 53.8415


def test_one_question_settles_nothing(tmp_path: Path) -> None:
    part = section(results(tmp_path, {"rope": [[1]], "vanilla": [[0]]}), "London")
    assert {row[5] for row in rows(part.text)} == {"not shown"}


def test_several_seeds_are_explained(tmp_path: Path) -> None:
    part = section(results(tmp_path, {"rope": first(40, seeds=3)}), "London")
    assert "with 3 seeds it shows 2/3 of the variance" in part.text
    assert "McNemar" not in part.text


def test_other_questions_are_refused(tmp_path: Path) -> None:
    both = results(tmp_path, {"rope": first(4, 10), "vanilla": first(4, 10)})
    path = tmp_path / "vanilla" / "predictions.tsv"
    path.write_text(path.read_text().replace("Genoa", "Milan"))
    both[1] = summarise(read_evaluation(tmp_path / "vanilla"), 10)
    with pytest.raises(StudyError, match="rope and vanilla answered different dev questions"):
        comparisons(both, "London")


def test_a_long_table_keeps_neighbours_and_what_is_open_with_london() -> None:
    names = [*(f"v{number}" for number in range(9)), LONDON]
    compared = [Comparison(a, b, NO if a == "v6" else YES) for i, a in enumerate(names) for b in names[i + 1 :]]
    kept = [(each.first, each.second) for each in in_the_table(compared, names, LONDON)]
    assert kept == [(f"v{n}", f"v{n + 1}") for n in range(7)] + [("v6", LONDON), ("v7", "v8"), ("v8", LONDON)]


@pytest.mark.parametrize("number", [2, 5, 14])
def test_the_picture_has_a_cell_a_pair_and_names_that_do_not_overlap(number: int) -> None:
    names = [*(f"random_synthesizer_{place}" for place in range(number)), LONDON]
    pairs = {(a, b): (YES, SEEDS, NO)[i % 3] for i, a in enumerate(names) for b in names[i + 1 :]}
    figure = draw_differences(pairs, names)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert len(axes.patches) == len(axes.texts) == len(pairs)
    cells = [patch.get_window_extent() for patch in axes.patches]
    for text, cell in zip(axes.texts, cells, strict=True):
        box = text.get_window_extent()
        assert cell.x0 <= box.x0 < box.x1 <= cell.x1
    for label in (*axes.get_yticklabels(), *axes.get_xticklabels()):
        box = label.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, label.get_text()
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(axes.get_window_extent())
    assert len(legend.get_texts()) == min(3, number)
