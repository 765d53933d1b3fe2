"""The whole exploration: its identities, its figures, the same each time."""

import numpy as np
import pytest

from stages.method.exploration import ALPHA, BETA, COPY_ERROR, Exploration, explore


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
    assert exploration.numbers["every_key"] < 1e-12
    assert exploration.numbers["steady"] < 0.05 and exploration.numbers["curve"] < 0.05


def test_a_copy_fades_as_the_keys_grow_alike(exploration: Exploration) -> None:
    """Weight on the copied value: 1/(1 + 15 e^{−20(1 − ρ)}); with e^β = 15 · 99 it is 99 %, at a cosine of 0."""
    by_cosine = {copy.cosine: copy for copy in exploration.copies}
    assert by_cosine[0.0].error == pytest.approx(15 * np.exp(-20), rel=1e-6)
    assert by_cosine[0.5].error == pytest.approx(1 - 1 / (1 + 15 * np.exp(-10)), rel=1e-9)
    assert by_cosine[0.9].error == pytest.approx(1 - 1 / (1 + 15 * np.exp(-2)), rel=1e-9)
    assert (BETA, COPY_ERROR) == (20, 0.01)
    assert by_cosine[0.0].length == pytest.approx(np.log(1485))
    assert by_cosine[0.9].length == pytest.approx(10 * np.log(1485))


def test_one_head_averages_as_well_as_two_where_the_length_hardly_varies(exploration: Exploration) -> None:
    one, two, steady_one, steady_two = exploration.averages
    assert [average.heads for average in exploration.averages] == ["one", "two", "one", "two"]
    assert two.spread < one.spread / 2 and two.off < one.off / 5
    assert steady_one.off == steady_two.off == 0
    # The share of v_a is ½ + ¼ β δ with δ of variance 4α: its variance is β²α/4, and so is that of v_b's
    assert steady_one.spread == pytest.approx(BETA**2 * ALPHA / 2, rel=0.15)
    assert steady_two.spread < 1e-12


def test_the_same_word_differs_by_what_stands_before_it(exploration: Exploration) -> None:
    """Weights by hand: (1, e)/(1 + e) of "I saw", (1, e, 1, e)/(2 + 2e) of "I saw a saw"."""
    first = np.array([1, np.e, 0]) / (1 + np.e)  # shares of I, saw and a
    second = np.array([1, 2 * np.e, 1]) / (2 + 2 * np.e)
    assert exploration.numbers["saw"] == pytest.approx(np.linalg.norm(second - first))
