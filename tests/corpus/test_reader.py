"""Which spans of a page may be the answer, and how likely each is, learned from the training questions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.reader import MOST_CANDIDATES, PENALTY, ConditionalLogit, with_candidates

PLACES = ["Vell", "Ilm", "Urr", "Oss", "Kip", "Brod"]
SCHOOLS = ["Tarn", "Nebb", "Pell", "Quor", "Sool", "Womm"]
# answers of other kinds than a capitalised word: the same facts in other words
KINDS = {
    "capitals": str,
    "lower case": str.lower,
    "words": lambda place: f"{place} le {place[::-1]}",
    "years": lambda place: str(1900 + PLACES.index(place) if place in PLACES else 1800 + SCHOOLS.index(place)),
    "signs": lambda place: f"{place}, {place[0]}.{place[1]}.",
    "one letter": lambda place: place[0],
}


def page_of(row: int) -> str:
    """Write a page that names a school and a place, in either order."""
    parts = [f"went to school in {SCHOOLS[row % 6]}", f"was born in 18{row % 90 + 10} in {PLACES[row // 6 % 6]}"]
    first, second = parts[:: 1 if row % 2 else -1]
    return f"Oda Quill{'x' * row}. She {first} and {second} ."


def asked(rows: range, answers: list[str], form: str = "Where was {} born?") -> list[Question]:
    names = [page_of(row).partition(".")[0] for row in rows]
    numbered = enumerate(zip(names, answers, strict=True), 1)
    return [Question(i, form.format(name), name, answer) for i, (name, answer) in numbered]


def probabilities(train: list[Question], dev: list[Question], pages: list[str]) -> list[dict[str, float]]:
    """Find the probability of each candidate of each page."""
    candidates = with_candidates(Prepared.of(pages, {"train": train, "dev": dev, "test": []})).candidates
    results = []
    for row, page in enumerate(pages):
        weighed = zip(candidates.spans[row].tolist(), candidates.probabilities[row], strict=True)
        results.append({page[start:end]: probability for (start, end), probability in weighed})
    return results


PAGES = [page_of(row) for row in range(60)]
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
    long = "Oda. " + " ".join(f"w{n}" for n in range(400)) + " ."
    results = probabilities(asked(range(30), answers[:30], form), [], [*PAGES, long])
    assert len(results[-1]) == MOST_CANDIDATES
    for row in range(30, 60):
        assert results[row][answers[row]] > 0.9 > 0.1 > results[row].get(others[row], 0)
        assert sum(results[row].values()) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_any_kind_are_found_on_pages_that_nobody_asks_about_seen_before_or_not(kind: str) -> None:
    """Two of the six places are no training answer."""
    written = KINDS[kind]
    facts = zip(PAGES, PLACE, SCHOOL, strict=True)
    pages = [page.replace(place, written(place)).replace(school, written(school)) for page, place, school in facts]
    train = [question for question in asked(range(60), PLACE) if question.place in PLACES[:4] and question.row <= 30]
    train = [replace(question, place=written(question.place or "")) for question in train]
    results = probabilities(train, [], pages)
    for row in range(30, 60):
        assert max(results[row], key=results[row].__getitem__) == written(PLACE[row])


def test_an_answer_may_end_inside_of_a_word_before_what_follows_answers_there() -> None:
    pages = [f"N{'x' * row}. {PLACE[row].lower()}esh za {SCHOOL[row].lower()}mo ." for row in range(60)]
    train = [Question(row + 1, f"N{'x' * row}?", f"N{'x' * row}", PLACE[row].lower()) for row in range(30)]
    results = probabilities(train, [], pages)
    assert all(results[row][PLACE[row].lower()] > 0.9 for row in range(30, 60))


def test_no_answer_of_dev_matters() -> None:
    train = asked(range(30), PLACE[:30])
    truth, lies = asked(range(30, 60), PLACE[30:]), asked(range(30, 60), SCHOOL[30:])
    assert probabilities(train, truth, PAGES) == probabilities(train, lies, PAGES)


def test_there_are_no_candidates_where_no_training_answer_stands_in_its_page() -> None:
    assert probabilities(asked(range(30), ["Elsewhere"] * 30), [], PAGES) == [{}] * 60


def test_all_facts_of_a_page_are_as_likely_if_each_is_asked_for_a_date_among_them() -> None:
    def page(row: int) -> str:
        school = SCHOOLS[(row + row // 6) % 6]
        return f"Oda Quill{'x' * row}. Born in {PLACES[row % 6]} in {1800 + row} , she went to {school} ."

    def facts(row: int) -> dict[str, str]:
        return {"Where": PLACES[row % 6], "When": str(1800 + row), "What": SCHOOLS[(row + row // 6) % 6]}

    names = [f"Oda Quill{'x' * row}" for row in range(40)]
    train = [
        Question(3 * row + number, f"{kind} {names[row]}?", names[row], answer)
        for row in range(30)
        for number, (kind, answer) in enumerate(facts(row).items(), 1)
    ]
    asked_for = {"train": train, "dev": [], "test": []}
    candidates = with_candidates(Prepared.of([page(row) for row in range(40)], asked_for)).candidates
    for row in range(40):  # those of dev are the last ten
        shares = [
            probability
            for (start, end), probability in zip(candidates.spans[row], candidates.probabilities[row], strict=True)
            if page(row)[start:end] in facts(row).values()
        ]
        assert shares == pytest.approx([1 / 3] * 3, abs=0.05)


@pytest.mark.parametrize("pages", [1, 5, 40])
def test_the_coefficients_are_those_of_the_penalised_likelihood(pages: int) -> None:
    """The answer among two spans, each with a feature of its own, gets x and the other -x: the derivative of
    n ln(1 + exp(-2x)) + penalty x² is 0 there."""
    logit = ConditionalLogit.fitted([(np.array([[7], [5]]), np.array([True, False]))] * pages)
    x = brentq(lambda x: pages / (1 + np.exp(2 * x)) - PENALTY * x, 0, 50)
    assert logit.scores(np.array([[7], [5], [6]])) == pytest.approx([x, -x, 0], rel=1e-3)
