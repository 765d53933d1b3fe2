"""The first screen's three tables: shares and intervals that are counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from stages.reporting.metrics import Answers, Result
from stages.reporting.sections.first_screen import answers_table, first_screen, kinds_table, memorised_table
from tests.support.example import BASELINE, evaluated, probe_tables
from tests.support.pages import cells


@pytest.fixture(name="result")
def result_fixture(tmp_path: Path) -> Result:
    """A variant that answers 5 of 10 questions and says `Nowhere` to the others; scratch answers none."""
    marks = [1] * 5 + [0] * 5
    return evaluated(tmp_path, "x", [[0] * 10] * 2, [marks] * 2, curve_rows=2)


def test_variants_stand_beside_the_baselines_with_wilsons_intervals(result: Result) -> None:
    text = answers_table([result], BASELINE)
    # the reader knows rows 1, 3, 5, 7, 9, the rule 4, 6, 8, 10; else they say `Nowhere`, as the model of 6 to 10
    assert cells(text, "x") == [["50.0 (23.7 to 76.3)", "0.0 (0.0 to 27.8)", "60.0"]]
    assert cells(text, "the reader") == [["50.0 (23.7 to 76.3)", "", "100.0"]]
    assert cells(text, "the rule") == [["40.0 (16.8 to 68.7)", "", "10.0"]]
    assert cells(text, "the letters") == [["0.0 (0.0 to 27.8)", "", "0.0"]]
    assert cells(text, "always London") == [["10.0 (1.8 to 40.4)", "", "0.0"]]  # scipy's binomtest(1, 10)
    assert cells(text, "ceiling") == [["95.8", "", ""]]


def test_answers_to_test_have_a_column_where_they_are_marked(result: Result) -> None:
    test = Answers(*(getattr(result.pretrained, name)[:2] for name in ("correct", "probability", "predicted", "asked")))
    (row,) = cells(answers_table([replace(result, test=test)], BASELINE), "x")
    assert row[2].startswith("100.0 (") and len(row) == 4


def test_what_is_memorised_and_extracted_is_counted_of_the_facts(result: Result) -> None:
    assert cells(memorised_table([result]), "x") == [["75.0", "50.0", "60.0"]]  # 30 and 20 of 40 facts; 18 of 30


def test_answers_have_the_shares_of_their_kinds(result: Result) -> None:
    # each seed's: one right, one of the own page, one each of three kinds of retrieval, none empty
    expected = ["20.0", "20.0", "60.0", "20.0", "20.0", "20.0", "0.0", "0.0"]
    assert cells(kinds_table([result]), "x") == [expected]


def test_where_the_page_lacks_the_answer_an_error_is_neither_of_choice_nor_of_retrieval(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=2, probes=probe_tables(facts=2))  # of five questions
    assert cells(kinds_table([result]), "x") == [["20.0", "20.0", *["0.0"] * 5, "60.0"]]


def test_without_a_fact_no_table_of_dashes_is_printed(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=2, probes=probe_tables(facts=0))
    text = first_screen([result], BASELINE)
    assert "Memorised" not in text and "–" not in text
