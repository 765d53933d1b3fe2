"""How fast the machine multiplies matrices of the model's shapes: a training step can hardly be faster."""

from collections.abc import Callable, Sequence

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


def serial_products(
    lengths: Sequence[int], width: int, recurrences: int, device: torch.device
) -> tuple[Callable[[], object], float]:
    """What h^t = tanh(… + W h^{t−1}) must multiply one step after another, and its floating point operations.

    lengths (B,): characters of each row; a row that has ended is not multiplied any more. Each step has one product
    (B_t, C) x (C, C) forward and one backward, float32 as the study's. The gradient of W is no part of it: all steps'
    together are one product.
    """
    rows = [sum(length > step for length in lengths) for step in range(max(lengths))]  # B_t
    weight = torch.linalg.qr(torch.randn(width, width))[0].to(device)  # keeps the size of what it multiplies
    h, result = torch.randn(2, len(lengths), width, device=device)

    def multiply() -> None:
        for _ in range(recurrences):
            for count in rows:
                torch.mm(h[:count], weight.t(), out=result[:count])
            for count in reversed(rows):
                torch.mm(h[:count], weight, out=result[:count])
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return multiply, 2.0 * 2 * sum(rows) * width**2 * recurrences
