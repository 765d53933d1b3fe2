"""Attention by hand: one head against two on keys of which one varies in length, and rotation by complex numbers."""

import numpy as np
import pytest
import torch
from scipy import stats  # type: ignore[import-untyped]

from stages.method.attention import (
    THETA,
    attend,
    copying_length,
    distances,
    draws,
    keys_at_cosine,
    length_share,
    orthonormal,
    rotary_scores,
    rotated,
    shares,
    spread_by_distance,
)
from stages.model.attention import RotaryAttention
from tests.support.tiny import MODEL, SETTINGS, tiny_model

ALPHA, BETA, SAMPLES = 1e-8, 12.0, 40_000
MEANS = orthonormal(np.random.default_rng(2), 4, 6)


def test_the_drawn_keys_have_the_covariances_that_are_asked_for() -> None:
    keys = draws(np.random.default_rng(3), MEANS, 0.01, SAMPLES)
    for number, more in enumerate((0.5 * np.outer(MEANS[0], MEANS[0]), 0, 0, 0)):
        assert keys[:, number].mean(axis=0) == pytest.approx(MEANS[number], abs=0.02)
        assert np.cov(keys[:, number].T) == pytest.approx(0.01 * np.eye(6) + more, abs=0.02)


def test_one_head_is_hardly_ever_the_average_and_two_mostly_are() -> None:
    keys, both = draws(np.random.default_rng(5), MEANS, ALPHA, SAMPLES), BETA * MEANS[:2]
    one, two = shares(keys, both.sum(axis=0, keepdims=True)), shares(keys, both)
    # one head: off by √2 |share − ½| > 0.1 beyond |ε − 1| = ln((½ + t)/(½ − t))/β with t = 0.1/√2
    margin = np.log((0.5 + 0.1 / np.sqrt(2)) / (0.5 - 0.1 / np.sqrt(2))) / BETA
    within = stats.norm.cdf(margin / np.sqrt(0.5)) - stats.norm.cdf(-margin / np.sqrt(0.5))
    assert (distances(one) > 0.1).mean() == pytest.approx(1 - within, abs=0.005)
    # two heads: the first gives v_a but for lengths at which e^{βε} is not far above the other three keys
    assert stats.norm(1, np.sqrt(0.5)).cdf(0) < (distances(two) > 0.1).mean() < stats.norm(1, np.sqrt(0.5)).cdf(0.4)
    assert two.var(axis=0).sum() < one.var(axis=0).sum() / 3


@pytest.mark.parametrize("cosine", [0.0, 0.3, 0.9])
def test_alike_keys_have_the_cosine_and_the_length_leaves_the_error(cosine: float) -> None:
    keys = keys_at_cosine(MEANS, cosine)
    assert keys @ keys.T == pytest.approx((1 - cosine) * np.eye(4) + cosine, abs=1e-12)
    weights = attend(copying_length(0.2, 4, cosine) * keys[0], keys, MEANS)[1]
    assert weights == pytest.approx([0.8, 0.2 / 3, 0.2 / 3, 0.2 / 3])


def test_the_curve_goes_from_one_value_to_the_other() -> None:
    assert length_share(np.array([0.0, 1.0, 2.0]), 20.0) == pytest.approx([0, 0.5, 1], abs=1e-8)
    keys = draws(np.random.default_rng(6), MEANS, 0.0, 500)
    drawn = shares(keys, 30 * MEANS[:2].sum(axis=0, keepdims=True))[:, 0]
    assert drawn == pytest.approx(length_share(keys[:, 0] @ MEANS[0], 30.0), abs=1e-12)


def test_rotary_scores_depend_on_the_distance_only_and_do_depend_on_it() -> None:
    query, key = np.random.default_rng(9).standard_normal((2, 16))
    scores = rotary_scores(query, key, 30)
    assert scores[5:, 5:] == pytest.approx(scores[:-5, :-5], abs=1e-12)
    assert spread_by_distance(scores).max() < 1e-12
    assert np.ptp(scores[:, 0]) > 1


def test_the_model_rotates_as_these_complex_numbers_do() -> None:
    mixer = tiny_model("rope").blocks[0].mixer
    assert isinstance(mixer, RotaryAttention)
    assert SETTINGS.variants["rope"]["theta"] == THETA
    x = torch.randn(2, MODEL.heads, 20, mixer.head_size, generator=torch.Generator().manual_seed(0))
    wanted = rotated(x.double().numpy(), np.arange(20.0))
    assert mixer.place(x, torch.arange(20)[None]).numpy() == pytest.approx(wanted, abs=1e-5)
