"""The sections made from probes say what these have, and reveal nothing."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stages.reporting.sections.extraction import draw_extraction, extraction_part
from stages.reporting.sections.failures import failures_part
from stages.reporting.sections.probes import WEIGHTS
from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.template import Part
from stages.system.errors import StudyError
from tests.project import with_sums
from tests.reporting.statistics.test_intervals import marks

FACTS = 40
OFFSETS = {0: (40, 20), 1: (10, 18), 10: (4, 16)}  # how many facts the pretrained and the finetuned weights match
ORIGINS = {
    ("dev", "scratch"): ["corpus", "hallucination"],
    ("dev", "pretrained"): ["correct", "own_page", "training_answer", "corpus", "hallucination"],
    ("unseen", "pretrained"): ["training_answer", "hallucination", "empty", "training_answer"],
}


def write_probe(
    folder: Path, offsets: Mapping[int, tuple[int, int]] = OFFSETS, forms: Sequence[str] = ("cloze", "other_name")
) -> None:
    """Write a probe of two equal seeds: 30 of 40 facts memorised, in the first form alone, 20 extracted, 18 both.

    Finetuning keeps every other memorised fact; the pretrained weights extract every other fact.
    """
    row = np.arange(1, FACTS + 1)
    memorised, extracted = row <= 30, (row <= 18) | (row > 38)
    facts = {"row": row, **{f"{weights}_{form}": 0 * row for weights in WEIGHTS for form in forms}}
    for name in (forms[0], "memorised"):
        facts |= {f"pretrained_{name}": memorised, f"finetuned_{name}": memorised & (row % 2 > 0)}
    facts |= {"pretrained_extracted": extracted & (row % 2 > 0), "finetuned_extracted": extracted}
    moved = [(number, offset, number <= old, number <= new) for offset, (old, new) in offsets.items() for number in row]
    origins = [(*asked, number, each) for asked, found in ORIGINS.items() for number, each in enumerate(found, 1)]
    tables = {
        "extraction": pd.DataFrame(facts),
        "prefix_offset": pd.DataFrame(moved, columns=["row", "offset", *WEIGHTS]),
        "origins": pd.DataFrame(origins, columns=["asked", "init", "row", "origin"]),
    }
    (folder / "x").mkdir()
    for name, table in tables.items():
        both = pd.concat([table.replace({True: 1, False: 0}).assign(seed=seed) for seed in (1, 2)])
        both.to_csv(folder / "x" / f"{name}.tsv", sep="\t", index=False)
    with_sums(folder / "x")


def made(maker: Callable[[Path, list[str]], Part | None], folder: Path) -> Part:
    """The section of variant x; y was not probed."""
    part = maker(folder, ["x", "y"])
    assert part is not None
    return part


def cells(text: str, *first: str) -> list[list[str]]:
    """Of each row of a table that begins with these cells those that follow."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(first)} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")][len(first) :] for line in lines]


def test_tables_file_and_picture_have_the_shares_before_and_after_finetuning(tmp_path: Path) -> None:
    assert extraction_part(tmp_path, ["x"]) is None  # without a probe there is no section
    write_probe(tmp_path)
    part = made(extraction_part, tmp_path)
    text = part.text
    forms, offsets = cells(text, "x")
    assert forms == ["75.0 → 37.5", "75.0 → 37.5", "0.0 → 0.0", "25.0 → 50.0", "60.0"]  # 30, 15, 10, 20 of 40; 18 of 30
    assert offsets == ["100.0 → 50.0", "25.0 → 45.0", "10.0 → 40.0"]
    assert "own page: 40 questions" in text and "in percent of the 40 facts that leave room" in text
    table = pd.read_csv(io.StringIO(part.files["extraction.csv"]))
    assert set(table.columns) == {"variant", "weights", "measure", "share", "ci_low", "ci_high"}  # no question or place
    rows = table.set_index(["weights", "measure"])
    counts = {("pretrained", "memorised"): 30, ("finetuned", "memorised"): 15, ("finetuned", "extracted"): 20}
    (axes,) = draw_extraction(table).axes
    bars = [bars[0].get_width() for bars in axes.containers if hasattr(bars, "patches")]
    assert bars == [100 * right / FACTS for right in counts.values()]
    assert [rows.loc[key].share for key in counts] == [right / FACTS for right in counts.values()]
    interval = accuracy_interval(marks(30, FACTS, seeds=2), "x")
    assert tuple(rows.loc["pretrained", "memorised"][["ci_low", "ci_high"]]) == pytest.approx(interval, abs=5e-5)


def test_forms_that_pretraining_did_not_practise_are_neither_shown_nor_explained(tmp_path: Path) -> None:
    write_probe(tmp_path, forms=("infilling",), offsets={})
    text = made(extraction_part, tmp_path).text
    assert "*infilling*" in text and len(cells(text, "x")) == 1
    assert not [word for word in ("cloze", "continuation", "other name", "offset") if word in text]


@pytest.mark.parametrize("content", [None, "", "seed\trow\n"])
def test_a_broken_probe_is_told_in_one_line(tmp_path: Path, content: str | None) -> None:
    write_probe(tmp_path)
    path = tmp_path / "x" / "origins.tsv"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(StudyError, match=r"x/origins.tsv is (damaged|missing).*`dvc repro`"):
        extraction_part(tmp_path, ["x"])


def test_each_row_has_the_shares_of_all_answers_and_hallucinations_their_interval(tmp_path: Path) -> None:
    assert failures_part(tmp_path, ["x"]) is None  # without a probe there is no section
    write_probe(tmp_path)
    text = made(failures_part, tmp_path).text
    assert cells(text, "x", "dev, from scratch")[0][:5] == ["0.0", "0.0", "0.0", "50.0", "0.0"]
    assert cells(text, "x", "dev, pretrained")[0][:5] == ["20.0", "20.0", "20.0", "20.0", "0.0"]
    low, high = (100 * bound for bound in accuracy_interval(marks(1, 4, seeds=2), "x"))
    hallucinated = f"25.0 ({low:.1f} to {high:.1f})"
    assert cells(text, "x", "unseen entities") == [["–", "–", "50.0", "0.0", "25.0", hallucinated]]
    assert "are 4 names that no page and no question has" in text
