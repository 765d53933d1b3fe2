"""Weights that belong to positions, and how they move.

In a question the name stands ten characters later than in a page. Where the weights have moved by ten, each position
does what the one ten before it learned to do.
"""

import torch
from torch import Tensor

from stages.model.gpt import GPT
from stages.model.mixer import Mixer


@torch.no_grad()
def move_positions(model: GPT, by: int) -> None:
    """Give each position the weights of the position `by` before it; the first ones keep theirs.

    What moves are the learned positions, and what a mixer declares in `by_position`.
    """
    weights: list[tuple[Tensor, tuple[int, ...]]] = []
    if model.positions is not None:
        weights.append((model.positions, (0,)))
    for module in model.modules():
        if isinstance(module, Mixer):
            weights += [(getattr(module, name), axes) for name, axes in module.by_position.items()]

    for weight, axes in weights:
        for axis in axes:
            source = torch.arange(weight.shape[axis], device=weight.device)
            source[by:] -= by
            weight.copy_(weight.index_select(axis, source))
