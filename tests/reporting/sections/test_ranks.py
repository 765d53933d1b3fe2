"""What the report says of ranks is made from them."""

from pathlib import Path

from stages.reporting.sections.probes import read_probe
from stages.reporting.sections.ranks import ranks_finding, ranks_table
from tests.reporting.sections.probe import write_probe


def test_wrong_answers_are_told_by_where_the_right_place_stands(tmp_path: Path) -> None:
    write_probe(tmp_path, "x", (30, 20, 18))  # wrong: rows 19 to 30, which are memorised, and 33 to 40
    probe = read_probe(tmp_path / "x")
    text = ranks_finding(probe)
    assert "among the first 3 in 50.0 % and among the first 10 in 50.0 % of the cases, of 1,234 places" in text
    assert (
        "Of all facts answered wrongly 60.0 % were memorised: they were known, but the question did not reach them."
        in text
    )
    assert text.endswith("In the page form cloze alone the pretrained weights had the right place first in 60.0 %.")
    probe.known["pretrained_page_rank"] = 7  # in that form never the first: memorised in another one all the same
    text = ranks_finding(probe)
    assert "Of all facts answered wrongly 60.0 % were memorised" in text
    assert text.endswith("in 0.0 %.")


def test_no_wrong_answer_is_told_as_such(tmp_path: Path) -> None:
    write_probe(tmp_path, "x", (40, 40, 40))
    assert ranks_finding(read_probe(tmp_path / "x")) == "No question is answered wrongly."


def test_the_table_has_both_forms_before_and_after_finetuning(tmp_path: Path) -> None:
    write_probe(tmp_path, "x", (30, 20, 18))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in ranks_table([read_probe(tmp_path / "x")]).splitlines()[2:]
    ]
    assert rows == [
        ["x", "pretrained", "cloze", "75.0", "75.0", "100.0", "1"],
        ["x", "pretrained", "question", "0.0", "0.0", "0.0", "12"],
        ["x", "finetuned", "cloze", "0.0", "100.0", "100.0", "2"],
        ["x", "finetuned", "question", "50.0", "75.0", "75.0", "2"],
    ]
