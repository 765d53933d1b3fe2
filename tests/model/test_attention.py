"""Rotary positions and windows at their limits; test_gradients.py holds every variant equal to the plain one."""

import pytest
import torch

from stages.mixers.rope import Mixer, Settings
from tests.tiny import MODEL, SECTIONS, loud, random_tokens, tiny_model

THETA = 10_000.0


def test_scores_of_rotated_queries_and_keys_depend_on_the_distance_only() -> None:
    rope = Mixer(MODEL, Settings(theta=THETA), layer=0)
    drawn = torch.randn(2, 1, 4, 1, 8, generator=torch.Generator().manual_seed(0))
    q, k = drawn.expand(2, 1, 4, 64, 8)  # the same query and key at every position
    scores = torch.einsum("bhqs,bhks->hqk", rope.turned(q, None), rope.turned(k, None))
    for distance in range(-63, 64):
        along = scores.diagonal(distance, dim1=1, dim2=2)
        torch.testing.assert_close(along, along[:, :1].expand_as(along), rtol=0, atol=1e-4)
    assert scores[:, 0].std(dim=1).min() > 0.01  # and they do depend on it


def test_a_window_wider_than_the_room_of_a_sequence_takes_no_more_than_the_room() -> None:
    wide, room = tiny_model("window", sections=SECTIONS | {"window": {"width": 5000, "theta": THETA}}), 6
    states, tokens = wide.empty_states(2, room), random_tokens(2, room)
    assert {state.keys.shape[2] for state in states} == {room}
    with torch.inference_mode():
        read = [wide(token, states) for token in tokens.split(1, dim=1)]
        torch.testing.assert_close(torch.cat(read, dim=1), wide(tokens))


@torch.inference_mode()
@pytest.mark.parametrize(
    ("limited", "section", "unlimited"),
    [
        ("window", {"width": MODEL.context, "theta": THETA}, "rope"),
        ("perceiver_ar", {"latents": MODEL.context}, "vanilla"),
    ],
)
def test_a_limit_of_the_whole_context_is_none(limited: str, section: dict[str, float], unlimited: str) -> None:
    narrow, full = tiny_model(limited, sections=SECTIONS | {limited: section}), loud(tiny_model(unlimited))
    narrow.load_state_dict(full.state_dict())
    tokens = torch.arange(2, 34)[None]
    assert torch.equal(narrow(tokens), full(tokens))
