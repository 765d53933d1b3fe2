"""The section on whether it matters where a page begins."""

from pathlib import Path

import pandas as pd
import pytest

from stages.reporting.sections.probes import read_probe
from stages.reporting.sections.shifts import shares, shifts_part
from stages.reporting.sections.shifts_figure import draw_shifts
from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.style import styled
from tests.reporting.sections.probe import FACTS, SHIFTS, text_of, write_probe
from tests.reporting.statistics.test_intervals import marks


def test_the_shares_and_their_intervals_are_those_of_the_table(tmp_path: Path) -> None:
    write_probe(tmp_path)
    rows = {(row["weights"], row["shift"]): row for row in shares(read_probe(tmp_path / "x"))}
    assert set(rows) == {(weights, shift) for weights in ("pretrained", "finetuned") for shift in SHIFTS}
    for shift, counts in SHIFTS.items():
        for weights, spelled in zip(("pretrained", "finetuned"), counts, strict=True):
            row = rows[weights, shift]
            assert row["spelled"] == spelled / FACTS
            assert (row["low"], row["high"]) == accuracy_interval(marks(spelled, FACTS, seeds=2), "x")


def test_the_least_and_the_most_hurt_are_told(tmp_path: Path) -> None:
    write_probe(tmp_path, "bound")
    write_probe(tmp_path, "between", shifts={0: (40, 20), 1: (20, 20), 10: (16, 20)})
    write_probe(tmp_path, "free", shifts={0: (20, 20), 1: (19, 20), 10: (18, 20)})
    text = text_of(shifts_part(tmp_path, ["between", "bound", "free"]))
    assert (
        "Least and most affected are the pretrained weights of free and bound: with 1 character before the page they "
        "spell 47.5 and 25.0 % of the places (without: 50.0 and 100.0 %), and with 10, so that the name stands where "
        "a question has it, 45.0 and 10.0 %."
    ) in text
    assert "Counted are the 40 of 40 facts" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| free | finetuned |")]
    assert [cell.split("(")[0].strip() for cell in row.strip("|").split("|")[2:]] == ["50.0"] * 3


def test_one_variant_is_told_of_once(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(shifts_part(tmp_path, ["x"]))
    assert (
        "With 1 character before the page the pretrained weights spell 25.0 % of the places (without: 100.0 %)" in text
    )


def test_where_nothing_is_spelled_nothing_is_compared(tmp_path: Path) -> None:
    write_probe(tmp_path, shifts=dict.fromkeys(SHIFTS, (0, 0)))
    assert "spell too few of the places to tell what a shift" in text_of(shifts_part(tmp_path, ["x"]))


def test_a_share_of_a_few_facts_is_not_compared(tmp_path: Path) -> None:
    write_probe(tmp_path, "few", shifts={0: (9, 9), 1: (9, 9), 10: (9, 9)})
    assert "spell too few" in text_of(shifts_part(tmp_path, ["few"]))
    write_probe(tmp_path, "enough", shifts={0: (10, 9), 1: (5, 9), 10: (0, 9)})
    told = (
        "With 1 character before the page the pretrained weights of enough spell 12.5 % of the places (without: 25.0 %)"
    )
    assert told in text_of(shifts_part(tmp_path, ["few", "enough"]))


@pytest.mark.parametrize("number", [1, 4, 14])
def test_the_picture_has_a_line_a_variant_and_panel_with_what_the_table_says(tmp_path: Path, number: int) -> None:
    names = [f"random_synthesizer_{place}" for place in range(number)]
    rows = []
    for name in names:
        write_probe(tmp_path, name)
        rows += shares(read_probe(tmp_path / name))
    with styled():
        figure = draw_shifts(pd.DataFrame(rows), names)
    figure.draw_without_rendering()
    for axes, place in zip(figure.axes, (0, 1), strict=True):
        assert [line.get_ydata().tolist() for line in axes.lines] == [
            [100 * counts[place] / FACTS for counts in SHIFTS.values()]
        ] * number
        assert [label.get_text() for label in axes.get_xticklabels()] == [str(shift) for shift in SHIFTS]
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)
