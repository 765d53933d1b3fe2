"""Weights that move: each position gets those of an earlier one, and nothing else changes."""

import pytest
import torch

from tests.support.tiny import VARIANTS, loud, tiny_model

AXES = {"synthesizer": {"table": (0,), "offsets": (0,)}, "random_synthesizer": {"scores": (1, 2)}}
BY = 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_and_columns_of_scores_move_and_all_else_stays(variant: str) -> None:
    model = loud(tiny_model(variant))
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    model.move_positions(BY)
    for name, weight in model.state_dict().items():
        expected = before[name]
        axes = (0,) if name == "positions" else AXES.get(variant, {}).get(name.rpartition(".")[2], ())
        for axis in axes:
            rest = expected.shape[axis] - BY
            expected = torch.cat([expected.narrow(axis, 0, BY), expected.narrow(axis, 0, rest)], axis)
        assert torch.equal(weight, expected), name
