"""Softmax attention written out equals torch's, and what is special to each variant of it."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from stages.mixers import mqa, nope, perceiver_ar, window
from stages.mixers.rope import Mixer, Settings
from stages.model.attention import CausalSelfAttention, attend
from stages.model.packing import Packing
from stages.settings import Model
from tests.model.influence import reach
from tests.tiny import MODEL, SECTIONS, loud, random_tokens, tiny_model

THETA = 10_000.0


def draws(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("length", [1, 33])
def test_attention_equals_torchs_causal_attention(length: int) -> None:
    q, k, v = draws(3, 2, 4, length, 8)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(attend(q, k, v, 0.0), expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def rope() -> Mixer:
    return Mixer(Model(layers=1, heads=4, width=32, context=64, dropout=0.0), Settings(theta=THETA), layer=0)


def test_scores_of_rotated_queries_and_keys_depend_on_the_distance_only(rope: Mixer) -> None:
    q, k = draws(2, 1, 4, 1, 8).expand(2, 1, 4, 64, 8)  # the same query and key at every position
    scores = torch.einsum("bhqs,bhks->hqk", rope.turned(q, None), rope.turned(k, None))
    for distance in range(-63, 64):
        along = scores.diagonal(distance, dim1=1, dim2=2)
        torch.testing.assert_close(along, along[:, :1].expand_as(along), rtol=0, atol=1e-4)
    assert scores[:, 0].std(dim=1).min() > 0.01  # and they do depend on it


def test_pair_i_turns_by_theta_to_the_minus_2i_over_the_head_size(rope: Mixer) -> None:
    for pair in range(4):
        x = torch.zeros(1, 1, 64, 8)
        x[..., pair] = 1
        rotated = rope.turned(x, None)[0, 0]  # (64, 8)
        angles = [position * THETA ** (-2 * pair / 8) for position in range(64)]
        torch.testing.assert_close(rotated[:, pair], torch.tensor([math.cos(a) for a in angles]), rtol=0, atol=1e-5)
        torch.testing.assert_close(rotated[:, pair + 4], torch.tensor([math.sin(a) for a in angles]), rtol=0, atol=1e-5)


def distances(length: int) -> Tensor:
    """(length, length): how far output t (column) stands behind input i (row)."""
    return torch.arange(length) - torch.arange(length)[:, None]


def in_window(length: int, width: int) -> Tensor:
    return (distances(length) >= 0) & (distances(length) < width)


@pytest.mark.parametrize("width", [1, 7, 64])
def test_an_input_reaches_the_outputs_of_one_windowed_layer_that_are_less_than_the_width_behind(width: int) -> None:
    settings = window.Settings(width=width, theta=THETA)
    assert torch.equal(reach(window.Mixer(MODEL, settings, layer=0), MODEL.width, 40), in_window(40, width))


def test_a_window_wider_than_the_room_of_a_sequence_takes_no_more_than_the_room() -> None:
    wide, room = tiny_model("window", sections=SECTIONS | {"window": {"width": 5000, "theta": THETA}}), 6
    states, tokens = wide.empty_states(2, room), random_tokens(2, room)
    assert {state.keys.shape[2] for state in states} == {room}
    with torch.inference_mode():
        read = [wide(token, states) for token in tokens.split(1, dim=1)]
        torch.testing.assert_close(torch.cat(read, dim=1), wide(tokens))


@torch.inference_mode()
def test_a_window_of_the_whole_context_is_rope() -> None:
    sections = SECTIONS | {"window": {"width": MODEL.context, "theta": THETA}}
    windowed, rope = tiny_model("window", sections=sections), loud(tiny_model("rope"))
    windowed.load_state_dict(rope.state_dict())
    tokens = torch.arange(2, 34)[None]
    assert torch.equal(windowed(tokens), rope(tokens))


def test_the_first_block_of_perceiver_ar_reads_everything_and_later_ones_the_latents() -> None:
    settings = perceiver_ar.Settings(latents=5)
    for layer, width in ((0, 40), (1, 5), (3, 5)):
        mixer = perceiver_ar.Mixer(MODEL, settings, layer)
        assert torch.equal(reach(mixer, MODEL.width, 40), in_window(40, width))


@torch.inference_mode()
def test_perceiver_ar_with_every_position_a_latent_is_vanilla() -> None:
    sections = SECTIONS | {"perceiver_ar": {"latents": MODEL.context}}
    perceiver, vanilla = tiny_model("perceiver_ar", sections=sections), loud(tiny_model("vanilla"))
    perceiver.load_state_dict(vanilla.state_dict())
    tokens = torch.arange(2, 34)[None]
    assert torch.equal(perceiver(tokens), vanilla(tokens))


def test_without_positions_the_order_of_the_characters_before_makes_no_difference() -> None:
    mixer = nope.Mixer(MODEL, nope.Settings(), layer=0)
    x = draws(1, 20, MODEL.width)[0]
    reordered = torch.cat([x[torch.randperm(19, generator=torch.Generator().manual_seed(0))], x[19:]])
    one, other = (mixer(each, Packing.full((1, 20))) for each in (x, reordered))
    torch.testing.assert_close(one[-1], other[-1])
    assert not torch.allclose(one[:-1], other[:-1])


@torch.inference_mode()
def test_multi_query_attention_is_attention_whose_heads_have_the_same_keys_and_values() -> None:
    shared, full = mqa.Mixer(MODEL, mqa.Settings(), 0), CausalSelfAttention(MODEL, mqa.Settings(), 0)
    key, value = shared.key_value.weight.chunk(2)  # (hs, C) each
    key_bias, value_bias = shared.key_value.bias.chunk(2)
    full.query_key_value.weight.copy_(
        torch.cat([shared.query.weight, key.repeat(MODEL.heads, 1), value.repeat(MODEL.heads, 1)])
    )
    full.query_key_value.bias.copy_(
        torch.cat([shared.query.bias, key_bias.repeat(MODEL.heads), value_bias.repeat(MODEL.heads)])
    )
    full.projection.load_state_dict(shared.projection.state_dict())
    x, packing = draws(60, MODEL.width), Packing.full((2, 25), (1, 10))
    torch.testing.assert_close(shared(x, packing), full(x, packing))
