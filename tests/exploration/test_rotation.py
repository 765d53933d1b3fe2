"""Rotation, here with complex numbers, and in the model."""

import numpy as np
import pytest
import torch

from stages.exploration.attention import THETA, rotary_scores, rotated, spread_by_distance
from stages.model.attention import RotaryAttention
from tests.tiny import MODEL, SETTINGS, tiny_model


def test_rotating_keeps_lengths_and_adds_up() -> None:
    vector = np.random.default_rng(8).standard_normal(10)
    places = np.array([0.0, 1.0, 7.0])
    turned = rotated(vector, places)
    assert turned[0] == pytest.approx(vector)
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.full(3, np.linalg.norm(vector)))
    assert rotated(rotated(vector, np.array(3.0)), np.array(4.0)) == pytest.approx(turned[2])


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
    assert mixer.turned(x, None).numpy() == pytest.approx(wanted, abs=1e-5)
