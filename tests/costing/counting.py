"""What a forward pass really computes and keeps, by torch's own account."""

from collections.abc import Sequence

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from stages.costing.formulas import Cost, Shape
from stages.model.cpu import kernels
from stages.model.mixer import State
from stages.model.packing import Packing
from stages.model.registry import build
from stages.settings import Model, Section


def counted(variant: str, settings: Section, shape: Shape) -> Cost:
    """The cost of a stack with random weights: matrix products, storage kept for the way back (in float32 numbers).

    Torch's operations do all of it, so that its counters see every product; weights and tables are not kept numbers.
    """
    model = Model(layers=shape.layers, heads=shape.heads, width=shape.width, context=shape.length, dropout=0.0)
    backbone = build(variant, model, settings)
    own = {each.untyped_storage().data_ptr() for each in (*backbone.parameters(), *backbone.buffers())}
    kept: dict[int, torch.Tensor] = {}  # by storage, so that views count once; held, so that none is used again

    def remember(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    def rows(number: int) -> tuple[torch.Tensor, Packing]:
        x = torch.randn(number, shape.width, requires_grad=torch.is_grad_enabled())
        return x, Packing.full((1, number))

    served = kernels.identity() != "torch"
    kernels.use_kernels(False)
    try:
        with FlopCounterMode(display=False) as full, saved_tensors_hooks(remember, lambda tensor: tensor):
            output = backbone(*rows(shape.length))
        numbers = sum(t.untyped_storage().nbytes() for at, t in kept.items() if at not in own) / output.element_size()
        with torch.no_grad():
            states = backbone.empty_states(1, shape.length)
            backbone(*rows(shape.length - 1), states)
            with FlopCounterMode(display=False) as step:
                backbone(*rows(1), states)
    finally:
        kernels.use_kernels(served)
    return Cost(full.get_total_flops() / 2, numbers, step.get_total_flops() / 2, numbers_held(states))


def numbers_held(states: Sequence[State]) -> float:
    """The float32 numbers of a row's states, without the positions that each counts in int64."""
    return (sum(state.bytes_per_row for state in states) - 8 * len(states)) / 4
