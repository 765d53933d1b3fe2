"""The section on where answers come from counts every answer once."""

from pathlib import Path

from stages.reporting.sections.failures import failures_part
from stages.reporting.statistics.intervals import accuracy_interval
from tests.reporting.sections.probe import cells, text_of, write_probe
from tests.reporting.statistics.test_intervals import marks


def test_each_row_has_the_shares_of_all_answers_and_hallucinations_their_interval(tmp_path: Path) -> None:
    assert failures_part(tmp_path, ["x"]) is None  # without a probe there is no section
    write_probe(tmp_path)
    text = text_of(failures_part(tmp_path, ["x", "y"]))
    assert cells(text, "x", "dev, from scratch")[0][:5] == ["0.0", "0.0", "0.0", "50.0", "0.0"]
    assert cells(text, "x", "dev, pretrained")[0][:5] == ["20.0", "20.0", "20.0", "20.0", "0.0"]
    low, high = (100 * bound for bound in accuracy_interval(marks(1, 4, seeds=2), "x"))
    hallucinated = f"25.0 ({low:.1f} to {high:.1f})"
    assert cells(text, "x", "unseen entities") == [["–", "–", "50.0", "0.0", "25.0", hallucinated]]
    assert "are 4 names that no page and no question has" in text
