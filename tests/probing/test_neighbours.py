"""Nearest names and states."""

import pandas as pd
import pytest

from stages.probing.neighbours import edit_distances, neighbours
from tests.support.tiny import BIRTHPLACES
from tests.support.toy import learned, toy_prepared


@pytest.mark.parametrize(
    ("one", "other", "edits"),  # the first two are Wagner & Fischer's and Levenshtein's textbook cases
    [("kitten", "sitting", 3), ("saturday", "sunday", 3), ("abc", "abc", 0), ("abc", "", 3), ("ab", "ba", 2)],
)
def test_edits_are_the_textbooks(one: str, other: str, edits: int) -> None:
    assert edit_distances(one, [other, one, other + "!"]).tolist()[:2] == [edits, 0]
    assert edit_distances(other + "x", [one + "x"]).tolist() == [edits]


def test_only_wrong_answers_count_and_the_nearest_of_equal_questions_is_the_question_itself() -> None:
    prepared, places = toy_prepared(), list(BIRTHPLACES.values())  # the same eight questions in train and dev
    predicted = pd.Series(places, index=range(1, 9))
    assert neighbours(learned(("question",)), prepared, predicted).empty
    predicted[2], predicted[5] = "Zub", next(place for place in places if place != places[4])
    table = neighbours(learned(("question",)), prepared, predicted)
    share = places.count(predicted[5]) / 8
    assert table.to_numpy().tolist() == [[2, 0, 0, 0], [5, 0, 0, pytest.approx(share, abs=1e-4)]]
