"""Attention by hand: one head against two on keys of which one varies in length; the model rotates as is shown."""

import numpy as np
import pytest
import torch
from scipy import stats  # type: ignore[import-untyped]

from stages.method.attention import THETA, distances, draws, orthonormal, rotated, shares
from stages.model.attention import RotaryAttention
from tests.support.tiny import MODEL, SETTINGS, tiny_model

ALPHA, BETA, SAMPLES = 1e-8, 12.0, 40_000
MEANS = orthonormal(np.random.default_rng(2), 4, 6)


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


def test_the_model_rotates_as_these_complex_numbers_do() -> None:
    mixer = tiny_model("rope").blocks[0].mixer
    assert isinstance(mixer, RotaryAttention)
    assert SETTINGS.variants["rope"]["theta"] == THETA
    x = torch.randn(2, MODEL.heads, 20, mixer.head_size, generator=torch.Generator().manual_seed(0))
    wanted = rotated(x.double().numpy(), np.arange(20.0))
    assert mixer.place(x, torch.arange(20)[None]).numpy() == pytest.approx(wanted, abs=1e-5)
