"""The chance of each phrase of a page to be an answer, learned from the training questions."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import brentq

from stages.corpus.page import Pages
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.salience import PENALTY, Known, features, learned, phrase_chances, reader_answers

PLACES = ["Vell", "Ilm", "Urr", "Oss", "Kip", "Brod"]
SCHOOLS = ["Tarn", "Nebb", "Pell", "Quor", "Sool", "Womm"]


def told(row: int) -> str:
    """A page that names a school and a place, in either order."""
    parts = [f"went to school in {SCHOOLS[row % 6]}", f"was born in 18{row % 90 + 10} in {PLACES[row // 6 % 6]}"]
    first, second = parts[:: 1 if row % 2 else -1]
    return f"Oda Quill{'x' * row}. She {first} and {second} ."


def asked(rows: range, answers: list[str], form: str = "Where was {} born?") -> list[Question]:
    names = [told(row).partition(".")[0] for row in rows]
    return [
        Question(i, form.format(name), name, answer)
        for i, (name, answer) in enumerate(zip(names, answers, strict=True), 1)
    ]


def chances(train: list[Question], dev: list[Question], pages: int = 60) -> list[dict[str, float]]:
    """Of each page the chance of each phrase."""
    prepared = Prepared.of([told(row) for row in range(pages)], {"train": train, "dev": dev, "test": []})
    parts = Pages.of(prepared.each_text())
    found = phrase_chances(prepared, parts)
    return [
        {told(row)[slice(*span)]: chance for span, chance in zip(parts[row].phrases, each, strict=True)}
        for row, each in enumerate(found)
    ]


PLACE = [PLACES[row // 6 % 6] for row in range(60)]
SCHOOL = [SCHOOLS[row % 6] for row in range(60)]


@pytest.mark.parametrize(
    ("form", "answers", "others"),
    [("Where was {} born?", PLACE, SCHOOL), ("Which school did {} go to?", SCHOOL, PLACE)],
    ids=["births", "schools"],
)
def test_what_stands_where_answers_stand_is_the_likeliest_on_pages_that_nobody_asks_about(
    form: str, answers: list[str], others: list[str]
) -> None:
    found = chances(asked(range(30), answers[:30], form), [])
    for row in range(30, 60):
        assert found[row][answers[row]] > 0.9 > 0.1 > found[row][others[row]]
        assert sum(found[row].values()) == pytest.approx(1, abs=1e-4)


def test_the_reader_says_what_stands_where_answers_stand_on_pages_that_nobody_asks_about() -> None:
    documents = [*map(told, range(60)), told(59).replace(PLACE[59], "Nowhere"), "no heading"]
    questions = {"train": asked(range(30), PLACE[:30]), "dev": asked(range(30, 60), SCHOOL[30:]), "test": []}
    said = reader_answers(Prepared.of(documents, questions))
    assert [said[told(row).partition(".")[0]] for row in range(30, 60)] == PLACE[30:]  # of two pages the first


def test_no_answer_of_dev_matters() -> None:
    train = asked(range(30), PLACE[:30])
    truth, lies = asked(range(30, 60), PLACE[30:]), asked(range(30, 60), SCHOOL[30:])
    assert chances(train, truth) == chances(train, lies)


def test_phrases_are_alike_where_no_training_answer_stands_in_its_page() -> None:
    for page in chances(asked(range(30), ["Elsewhere"] * 30), []):
        assert list(page.values()) == pytest.approx([1 / len(page)] * len(page), abs=1e-6)


def test_a_pages_own_question_does_not_put_its_answer_on_the_list() -> None:
    text = "Oda. Born in Vell ."
    parts, known = Pages.of([text])[0], Known(Counter(["Vell"]), Counter(["Vell"]), {})

    def listed(**own: str) -> list[bool]:
        return ["answers others: True" in each for each in features(text, parts, known, **own)]

    assert listed() == [False, True]  # Born, Vell
    assert listed(own_answer="Vell") == [False, False]


@pytest.mark.parametrize("pages", [1, 5, 40])
def test_the_coefficients_are_those_of_the_penalised_likelihood(pages: int) -> None:
    """Of two phrases, each with one feature of its own, the answer's gets x and the other's -x: the derivative of
    n ln(1 + exp(-2x)) + penalty x² is 0 there."""
    coefficients = learned([[["a"], ["b"]]] * pages, [[True, False]] * pages)
    x = brentq(lambda x: pages / (1 + np.exp(2 * x)) - PENALTY * x, 0, 50)
    assert coefficients["a"] == pytest.approx(x, rel=1e-3)
    assert coefficients["b"] == pytest.approx(-x, rel=1e-3)
