"""Pairs: names told apart, places drawn by the tables, and as many bits as these hold."""

from collections import Counter
from math import log2

import numpy as np
import pytest

from stages.sources.pairs import draw_pairs
from stages.sources.world.people import CULTURES, HOME_SHARE, HOMES, place_shares, shares_in


def test_a_world_is_drawn_again_and_another_seed_makes_another() -> None:
    assert draw_pairs(200, 1) == draw_pairs(200, 1) != draw_pairs(200, 2)


def test_shares_of_all_cultures_together_are_those_of_places() -> None:
    total = sum(culture.weight for culture in CULTURES.values())
    p_culture = {}
    for key, culture in CULTURES.items():
        at_home = sum(share for place, share in place_shares().items() if HOMES[place] == key)
        p_culture[key] = (1 - HOME_SHARE) * culture.weight / total + HOME_SHARE * at_home
    for place, share in place_shares().items():
        assert sum(p_culture[key] * shares_in(key)[place] for key in CULTURES) == pytest.approx(share)
    assert place_shares()["London"] == 0.05


def test_places_are_as_frequent_as_the_tables_say_and_independent() -> None:
    places = Counter(pair.place for pair in draw_pairs(20_000, 3))
    expected = np.array([20_000 * share for share in place_shares().values()])
    drawn = np.array([places[place] for place in place_shares()])
    # Pearson's statistic of 247 degrees of freedom has mean 247 and variance 494; dealt-out counts would give under 10
    assert abs(((drawn - expected) ** 2 / expected).sum() - 247) < 5 * 494**0.5


def test_bits_are_those_of_the_place_for_who_knows_the_culture() -> None:
    pairs = draw_pairs(5000, 4)
    entropy = -sum(share * log2(share) for share in place_shares().values())
    mean = np.mean([pair.bits for pair in pairs])
    assert entropy == pytest.approx(7.297, abs=1e-3)  # as counted from the tables once
    assert entropy - 0.3 < mean < entropy  # a culture tells some 0.06 bits
