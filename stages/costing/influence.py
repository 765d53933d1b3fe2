"""Which inputs of a variant's blocks influence which of their outputs, and how strongly.

The influence of input s on output t is the derivative of the one by the other, at drawn weights and inputs. Where no
path leads from s to t every product on the way back has a factor 0, so that the derivative is exactly 0; where one
does, it is 0 with probability 0 only. Float64 makes room for influences that fade by many powers of ten.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from stages.model.backbone import Backbone
from stages.model.packing import Packing
from stages.model.registry import build
from stages.settings import Model, Section

CHARACTERS = 4096  # that are computed at once


@dataclass(frozen=True)
class Influence:
    """Outputs t by inputs s, (T, T) each."""

    seen: Tensor  # bool: whether s influences t at all
    held: Tensor  # bool: whether it does so with the attention weights (each softmax) held constant
    strength: Tensor  # float64: the derivative's size; 1 is that of the identity, which a residual passes on
    faintest: float  # the smallest derivative of those that are not 0; near 1e-308 fainter ones may have become 0


def influence(backbone: Backbone, context: int, width: int, seed: int) -> Influence:
    """Differentiate each output of a backbone in float64 by each input.

    Each output is differentiated in a direction drawn for all, v of N(0, 1/C), beside inputs of N(0, 1) drawn for it:
    the expectation of ‖vᵀJ‖² over v is the mean square of J's columns. Learned positions would add to the inputs and
    are left out.
    """
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(width, generator=generator, dtype=torch.float64) / width**0.5  # (C,)
    seen, held, strength, faintest = [], [], [], []
    for outputs in torch.arange(context).split(max(1, CHARACTERS // context)):
        x = torch.randn(len(outputs), context, width, generator=generator, dtype=torch.float64)  # (B, T, C)
        derivative = _derivative(backbone, x, outputs, direction, hold=False)  # (B, T, C)
        largest = derivative.abs().amax(dim=-1)  # (B, T)
        seen.append(largest > 0)
        strength.append(derivative.norm(dim=-1))
        held.append((_derivative(backbone, x, outputs, direction, hold=True) != 0).any(dim=-1))
        faintest.append(largest[largest > 0].min().item() if largest.any() else float("inf"))
    return Influence(torch.cat(seen), torch.cat(held), torch.cat(strength), min(faintest))


def random_backbone(variant: str, model: Model, settings: Section, seed: int) -> Backbone:
    """The variant's blocks in float64, without dropout, with weights that keep the size of what they multiply.

    Linear layers are drawn from N(0, 1/inputs), where training starts from N(0, 0.02²): influences differ then from
    one and fade slowly. What else a variant draws stays as it draws it.

    Raises:
        ValueError: the settings do not fit the model's shape.
    """
    torch.manual_seed(seed)
    with _double():
        backbone = build(variant, model, settings).eval()
    for module in backbone.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return backbone.requires_grad_(False)


def _derivative(backbone: Backbone, x: Tensor, outputs: Tensor, direction: Tensor, hold: bool) -> Tensor:
    """The derivative of output outputs[b] of row b, in the direction (C,), by each input of the row. x: (B, T, C)."""
    x = x.clone().requires_grad_()
    with _double(), _Exact(hold):
        y = backbone(x.flatten(0, 1), Packing.full(x.shape[:2])).view_as(x)  # (B, T, C)
        (derivative,) = torch.autograd.grad((y[torch.arange(len(x)), outputs] @ direction).sum(), x)
    return derivative


class _Exact(TorchFunctionMode):
    """What a mixer computes in float32 whatever its weights' format is left in float64; softmaxes may be constants."""

    def __init__(self, hold: bool) -> None:
        super().__init__()
        self.hold = hold

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is Tensor.float:
            func = Tensor.double
        result = func(*args, **(kwargs or {}))
        return result.detach() if self.hold and func in (Tensor.softmax, torch.softmax) else result


@contextmanager
def _double() -> Iterator[None]:
    """What is made without a type in here is float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
