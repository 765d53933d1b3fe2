"""The whole exploration: its numbers, its figures, the same each time."""

from xml.etree import ElementTree

import numpy as np
import pytest

from stages.exploration.figures import draw_errors, draw_heads, draw_rotation, pictures
from stages.exploration.results import Exploration, explore
from tests.tiny import SETTINGS


@pytest.fixture(scope="module", name="exploration")
def exploration_fixture() -> Exploration:
    return explore(SETTINGS.explore)


def test_every_identity_holds(exploration: Exploration) -> None:
    figures = exploration.figures
    assert figures["copying"]["largest_share"] > 0.99
    assert figures["copying"]["off_formula"] < 1e-12
    assert figures["averaging"]["off_formula"] < 1e-12
    assert figures["averaging"]["smallest_error"] < 1e-6
    assert figures["projection"]["error"] < 1e-12
    assert figures["construction"]["off_formula"] < 1e-12
    assert figures["construction"]["identity_distance"] > 1.4  # √2: x₂ and u_b are orthogonal
    assert figures["rotation"]["rotary_spread"] < 1e-12 < 1 < figures["rotation"]["added_spread"]
    assert figures["heads"]["two"]["std_a"] < figures["heads"]["one"]["std_a"] / 2


def test_the_same_settings_give_the_same_numbers_and_other_seeds_others(exploration: Exploration) -> None:
    small = SETTINGS.explore.model_copy(update={"samples": 1500})
    first, again = explore(small), explore(small)
    assert first.figures == again.figures
    assert first.one_head.shape == (1500, 2)
    other = explore(small.model_copy(update={"seed": small.seed + 1}))
    assert other.figures["heads"] != first.figures["heads"]


def test_pictures_hold_what_they_are_drawn_from(exploration: Exploration) -> None:
    lines = draw_errors(exploration).axes[0].lines
    assert len(lines[1::2]) >= len(exploration.errors) > 0
    for line, drawn in zip(exploration.errors, lines[1::2][: len(exploration.errors)], strict=True):
        assert np.array_equal(drawn.get_ydata(), line.found)
    for axes in draw_heads(exploration).axes:
        assert [round(patch.get_data().values.sum()) for patch in axes.patches] == [100, 100]
    pairs = SETTINGS.explore.positions * (SETTINGS.explore.positions + 1) // 2
    assert [len(axes.lines[0].get_ydata()) for axes in draw_rotation(exploration).axes] == [pairs, pairs]


def test_pictures_are_valid_and_the_same_each_time(exploration: Exploration) -> None:
    first, again = pictures(exploration), pictures(exploration)
    assert first == again
    assert set(first) == {"errors.svg", "heads.svg", "rotation.svg"}
    for picture in first.values():
        ElementTree.fromstring(picture)
        assert "mathdefault" not in picture
