"""Where sequences lie among a batch's characters, and the rectangles made of them."""

import pytest
import torch

from stages.model.packing import Packing, Part
from tests.support.tiny import packing_of

PACKING = Packing((Part((1, 3), 4), Part((5, 2, 5), 5)))


def test_sequences_lie_one_after_the_other() -> None:
    starts, lengths = PACKING.extents.tolist()
    assert (starts, lengths) == ([0, 1, 4, 9, 11], [1, 3, 5, 2, 5])
    assert PACKING.positions.tolist() == [0, 0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3, 4]


def test_first_characters() -> None:
    assert PACKING.first(2) == Packing((Part((1, 2), 2), Part((2, 2, 2), 2)))
    assert PACKING.first(9) == PACKING


def test_full_packings_are_those_of_rectangles() -> None:
    packing = Packing.full((2, 3), (1, 4))
    assert packing == packing_of([[3, 3], [4]])
    assert packing.positions.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3]


def test_sequences_grow_where_there_is_room_up_to_a_round_number_of_characters() -> None:
    assert PACKING.rounded(9) == Packing((Part((3, 3), 4), Part((5, 2, 5), 5)))
    assert PACKING.rounded(100) == Packing((Part((4, 4), 4), Part((5, 5, 5), 5)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rectangles_have_zeros_past_the_end_of_a_sequence_and_give_the_sequences_back(dtype: torch.dtype) -> None:
    x = torch.arange(1.0, 16 * 6 + 1, dtype=dtype).view(16, 6).requires_grad_()
    rectangles = PACKING.rectangles(x)
    for part, rectangle, characters in zip(PACKING.parts, rectangles, x.split([4, 12]), strict=True):
        assert rectangle.shape == (*part.shape, 6)
        assert not rectangle[~part.filled()].any()
        assert torch.equal(rectangle[part.filled()], characters)
    joined = PACKING.join(2 * rectangle for rectangle in rectangles)
    assert torch.equal(joined, 2 * x)
    joined.backward(x.detach())
    assert x.grad is not None and torch.equal(x.grad, 2 * x)
