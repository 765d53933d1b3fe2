"""How fast the machine multiplies matrices of the model's shapes, and how much of that a training step uses."""

from collections.abc import Callable

import torch
from torch import nn

TOKENS = 8192  # rows of the products: about the characters of a batch of 128 documents


def linear_weights(model: nn.Module) -> int:
    """How many weights the model's linear layers have."""
    return sum(module.weight.numel() for module in model.modules() if isinstance(module, nn.Linear))


def step_flop(weights: int, tokens: float) -> float:
    """Floating point operations of the linear layers' products in a training step on `tokens` characters.

    2 a weight and character forward, 4 backward. Attention's own products are not counted: they differ from variant
    to variant, and in the handout's recipe are about 2 % of the sum.
    """
    return 6.0 * weights * tokens


def product(width: int, dtype: torch.dtype, device: torch.device) -> tuple[Callable[[], object], float]:
    """The product of the MLP's first layer, (8192, C) x (C, 4C), and its floating point operations."""
    left = torch.randn(TOKENS, width, device=device).to(dtype)
    right = torch.randn(width, 4 * width, device=device).to(dtype)
    result = torch.empty(TOKENS, 4 * width, device=device, dtype=dtype)

    def multiply() -> None:
        torch.mm(left, right, out=result)
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return multiply, 2.0 * TOKENS * width * 4 * width
