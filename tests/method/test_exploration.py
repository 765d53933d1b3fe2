"""The whole exploration: its identities, its figures, the same each time."""

import pytest

from stages.method.exploration import Exploration, explore


@pytest.fixture(scope="module", name="exploration")
def exploration_fixture() -> Exploration:
    return explore(samples=1000)


def test_every_identity_holds(exploration: Exploration) -> None:
    for computed, formula in exploration.errors.values():
        assert computed == pytest.approx(formula, abs=1e-12)
        assert computed[-1] < 1e-6
    assert exploration.numbers["projection"] < 1e-12
    assert exploration.numbers["identity"] > 1.4  # √2: x₂ and u_b are orthogonal
    assert exploration.numbers["rotary"] < 1e-12 < 1 < exploration.numbers["added"]
    assert exploration.one_head.shape == (1000, 16)
    assert exploration.numbers["least_weight"] >= 0 and exploration.numbers["sum_of_weights"] < 1e-12
    assert exploration.numbers["every_key"] < 1e-12 and exploration.numbers["steady"] < 0.05
    assert exploration.numbers["spread_two"] < exploration.numbers["spread_one"] / 2
