"""Which inputs of a variant's blocks influence which of their outputs, and how strongly.

The influence of input s on output t is the derivative of t by s, at drawn weights and inputs. Where no path leads from
s to t it is exactly 0, as each product on the way back has a factor 0; elsewhere it is 0 with probability 0. Float64
has room for influences that fade by many powers of ten.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from stages.model.backbone import Backbone
from stages.model.packing import Packing
from stages.model.registry import build
from stages.settings import Model, Section

CHARACTERS = 4096  # computed at once


def influence(backbone: Backbone, context: int, width: int) -> Tensor:
    """Return the size of each output's derivative by each input, (outputs T, inputs T) float64; 0 is no influence.

    1 is the size of the identity's, which a residual passes on. Each output is differentiated in a direction drawn for
    all, v of N(0, 1/C): the expectation of ‖vᵀJ‖² over v is the mean square of J's columns. The device is the
    backbone's; draws and result are the CPU's.
    """
    generator = torch.Generator().manual_seed(1)
    device = next(backbone.parameters()).device
    direction = torch.randn(width, generator=generator, dtype=torch.float64).to(device) / width**0.5  # (C,)
    sizes = []
    for outputs in torch.arange(context).split(max(1, CHARACTERS // context)):
        x = torch.randn(len(outputs), context, width, generator=generator, dtype=torch.float64).to(device)  # (B, T, C)
        with _float64():
            y = backbone(x.requires_grad_().flatten(0, 1), Packing.full(x.shape[:2])).view_as(x)  # (B, T, C)
            (derivative,) = torch.autograd.grad((y[torch.arange(len(x)), outputs] @ direction).sum(), x)
        largest = derivative.abs().amax(dim=-1, keepdim=True)  # set apart, as squares of small numbers would be 0
        sizes.append(largest[..., 0] * (derivative / largest.clamp_min(1e-300)).norm(dim=-1))
    return torch.cat(sizes).cpu()  # (T, T)


def random_backbone(variant: str, model: Model, settings: Section) -> Backbone:
    """Return the variant's blocks in float64, without dropout, their linear layers drawn from N(0, 1/inputs).

    Training starts from N(0, 0.02²): there influences would differ little from a residual's one.
    """
    torch.manual_seed(1)
    with _float64():
        backbone = build(variant, model, settings).eval()
    for module in backbone.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return backbone.requires_grad_(False)


@contextmanager
def _float64() -> Iterator[None]:
    """Compute in float64 what has no type of its own."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)
