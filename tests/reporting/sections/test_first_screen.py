"""The first screen's three tables: shares and intervals that are counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from stages.reporting.metrics import Answers, Result
from stages.reporting.sections.first_screen import (
    MOST_FORMS,
    answers_table,
    first_screen,
    forms_table,
    kinds_table,
    memorised_table,
)
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
    text = first_screen([result], BASELINE, True)
    assert "Memorised" not in text and "–" not in text


BORN, STUDIED = "Where was NAME born?", "What did NAME study?"


def with_forms(result: Result, forms: list[str]) -> Result:
    """The same answers to questions of other forms."""
    return replace(result, pretrained=replace(result.pretrained, asked=result.pretrained.asked.assign(form=forms)))


def test_each_form_of_question_has_its_own_accuracies(result: Result) -> None:
    text = forms_table([with_forms(result, [BORN] * 4 + [STUDIED] * 5 + [""])])
    # the model knows rows 1 to 5, the reader 1, 3, 5, 7, 9, the rule 4, 6, 8, 10
    assert cells(text, STUDIED) == [["5", "20.0", "60.0", "40.0"]]
    assert cells(text, BORN) == [["4", "100.0", "50.0", "25.0"]]
    assert cells(text, "another form") == [["1", "0.0", "0.0", "100.0"]]
    assert text.index(STUDIED) < text.index(BORN) < text.index("another form")  # the commonest first


@pytest.mark.parametrize("forms", [[BORN] * 10, [""] * 10])
def test_questions_of_one_form_have_no_table_of_forms(result: Result, forms: list[str]) -> None:
    assert not forms_table([with_forms(result, forms)])
    assert "Accuracy by form" not in first_screen([with_forms(result, forms)], BASELINE, True)


def test_many_forms_are_joined(tmp_path: Path) -> None:
    count = 2 * MOST_FORMS
    result = evaluated(tmp_path, "x", [[0] * count], [[1] * count], curve_rows=2)
    text = forms_table([with_forms(result, [f"{BORN} {number}" for number in range(count)])])
    assert text.count(BORN) == MOST_FORMS and cells(text, "another form")[0][:2] == [f"{MOST_FORMS}", "100.0"]


def test_forms_are_shown_where_questions_are(result: Result) -> None:
    other = with_forms(result, [BORN] * 5 + [STUDIED] * 5)
    assert BORN in first_screen([other], BASELINE, True) and BORN not in first_screen([other], BASELINE, False)
