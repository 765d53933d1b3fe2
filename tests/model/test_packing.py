"""Where sequences lie among a batch's characters, and the rectangles made of them."""

import pytest
import torch

from stages.model import heads
from stages.model.packing import Packing, Part
from tests.support.tiny import packing_of

PACKING = Packing((Part((1, 3), 4), Part((5, 2, 5), 5)))


def test_sequences_lie_one_after_the_other() -> None:
    starts, lengths = PACKING.extents.tolist()
    assert (starts, lengths) == ([0, 1, 4, 9, 11], [1, 3, 5, 2, 5])
    assert PACKING.positions.tolist() == [0, 0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3, 4]
    assert (PACKING.sizes, PACKING.are_full) == ([4, 12], False)


def test_first_characters() -> None:
    assert PACKING.first(2) == Packing((Part((1, 2), 2), Part((2, 2, 2), 2)))
    assert PACKING.first(9) == PACKING


def test_full_packings_are_those_of_rectangles() -> None:
    packing = Packing.full((2, 3), (1, 4))
    assert packing == packing_of([[3, 3], [4]])
    assert packing.are_full and packing.positions.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3]


@pytest.mark.usefixtures("either")
def test_rectangles_have_zeros_past_the_end_of_a_sequence_and_give_the_sequences_back() -> None:
    x = torch.arange(1.0, 16 * 6 + 1).view(16, 6).requires_grad_()
    parts = heads.split_heads(x, PACKING, heads=2)
    for part, rectangles, first in zip(PACKING.parts, parts, (0, 4), strict=True):
        for kind, rectangle in enumerate(rectangles):
            assert rectangle.shape == (len(part.lengths), 2, part.width, 1)
            assert not rectangle.transpose(1, 2)[~part.filled()].any()
            inside = rectangle.transpose(1, 2)[part.filled()][:, :, 0]  # (characters, heads)
            torch.testing.assert_close(inside, x[first : first + part.characters, 2 * kind : 2 * kind + 2])
    merged = heads.merge_heads([2 * q for q, _, _ in parts], PACKING)
    torch.testing.assert_close(merged, 2 * x[:, :2])
    merged.sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(x.grad, torch.tensor([2.0, 2, 0, 0, 0, 0]).expand(16, 6))
