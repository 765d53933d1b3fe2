"""The section on what is memorised and what is extracted says what the probes have, and reveals nothing."""

import io
from pathlib import Path

import pandas as pd
import pytest

from stages.reporting.sections.extraction import extraction_part, shares
from stages.reporting.sections.extraction_figure import BARS, draw_extraction
from stages.reporting.sections.probes import read_probes
from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.style import styled
from stages.system.errors import StudyError
from tests.reporting.sections.probe import FACTS, OFFSETS, cells, text_of, write_probe
from tests.reporting.statistics.test_intervals import marks


def test_the_tables_have_the_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(extraction_part(tmp_path, ["x"]))
    forms, offsets = cells(text, "x")
    assert forms == ["75.0 → 37.5", "75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0", "60.0"]  # 30, 15, 10, 20 of 40; 18 of 30
    assert offsets == ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert "own page: 40 questions" in text and "in percent of the 40 facts that leave room" in text


def test_the_file_has_every_share_with_the_interval_of_the_reports_statistics(tmp_path: Path) -> None:
    write_probe(tmp_path)
    part = extraction_part(tmp_path, ["x"])
    assert part is not None
    rows = pd.read_csv(io.StringIO(part.files["extraction.csv"])).set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "extracted"): 20}
    for offset, (before, after) in OFFSETS.items():
        counts |= {("pretrained", f"offset_{offset}"): before, ("finetuned", f"offset_{offset}"): after}
    for key, right in counts.items():
        found = rows.loc[key]
        assert found["share"] == right / FACTS
        interval = accuracy_interval(marks(right, FACTS, seeds=2), "x")
        assert (found.ci_low, found.ci_high) == pytest.approx(interval, abs=5e-5)
    assert set(rows.columns) == {"variant", "share", "ci_low", "ci_high"}  # no question, name or place


def test_forms_that_pretraining_did_not_practise_are_neither_shown_nor_explained(tmp_path: Path) -> None:
    write_probe(tmp_path, forms=("infilling",), offsets={})
    text = text_of(extraction_part(tmp_path, ["x"]))
    assert "*infilling*" in text and len(cells(text, "x")) == 1
    assert not [word for word in ("cloze", "continuation", "other name", "offset") if word in text]
    write_probe(tmp_path, "y", forms=("words", "other_name"))
    assert "words with a stranger's name" in text_of(extraction_part(tmp_path, ["y"]))


def test_without_a_probe_or_a_fact_there_is_no_section(tmp_path: Path) -> None:
    assert extraction_part(tmp_path / "nothing", ["x"]) is None
    write_probe(tmp_path)
    path = tmp_path / "x" / "extraction.tsv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert extraction_part(tmp_path, ["x"]) is None


@pytest.mark.parametrize("name", ["extraction.tsv", "prefix_offset.tsv", "origins.tsv"])
@pytest.mark.parametrize("content", [None, "", "seed\trow\n"])
def test_a_broken_probe_is_told_in_one_line(tmp_path: Path, name: str, content: str | None) -> None:
    write_probe(tmp_path)
    path = tmp_path / "x" / name
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(StudyError, match=rf"x/{name}: broken .*dvc repro") as told:
        extraction_part(tmp_path, ["x"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("number", [1, 4, 14])
def test_the_picture_has_a_bar_a_share_and_the_most_extracted_first(tmp_path: Path, number: int) -> None:
    names = [f"random_synthesizer_{place}" for place in range(number)]
    for place, name in enumerate(names):
        write_probe(tmp_path, name, counts=(30, place, place))
    with styled():
        figure = draw_extraction(pd.DataFrame([row for probe in read_probes(tmp_path, names) for row in shares(probe)]))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == names[::-1]
    *_, extracted = [[patch.get_width() for patch in bars] for bars in axes.containers if hasattr(bars, "patches")]
    assert extracted == [pytest.approx(100 * place / FACTS) for place in reversed(range(number))]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(BARS)
