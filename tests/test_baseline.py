"""The constant answer, on invented tables."""

import pandas as pd
import pytest

from stages.baseline import commonest, distances, percent


def test_of_the_commonest_places_the_first_by_name_is_the_constant() -> None:
    places = pd.Series(["Oss", "Vell", "Ilm", "Vell", "Oss", "Ilm", "Urr"])
    assert commonest(places) == commonest(places[::-1]) == "Ilm"


@pytest.mark.parametrize(("right", "of", "share"), [(1, 3, 33.33), (25, 500, 5.0), (0, 0, 0.0), (3, 3, 100.0)])
def test_percent_has_two_decimals_and_nothing_of_nothing_is_zero(right: int, of: int, share: float) -> None:
    assert percent(pd.Series([True] * right + [False] * (of - right))) == share


def test_a_distance_is_what_stands_between_title_and_place_and_empty_without_one() -> None:
    asked = pd.DataFrame({"name": ["Ada", "Bo Low", "Tam"], "position": [20, -1, 2]})
    assert distances(asked).to_csv(index=False).splitlines()[1:] == ["17", '""', "0"]  # the third is within the title
