"""Dropout whose random bits do not cost more than the layer it follows."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Zero a share `p` of the values in training and scale the others by 1/(1-p).

    On a CPU torch draws one Bernoulli number after another from a single thread, which at these sizes takes
    longer than the matrix products. Here a 16-bit integer decides for each value, from
    an SFC64 stream seeded by torch's generator, so `torch.manual_seed` governs it as ever. p is met to 2⁻¹⁶.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape → the same shape."""
        return dropout(x, self.p) if self.training else x


def dropout(x: Tensor, p: float) -> Tensor:
    """Zero a share p of x and scale the rest; gradients pass the same way."""
    if p == 0:
        return x
    if x.is_cuda:
        return F.dropout(x, p)
    return _MaskedScale.apply(x, p)


def _keep(x: Tensor, p: float) -> Tensor:
    """A mask of x's shape and dtype: 0 with probability p, else 1."""
    seed = int(torch.randint(2**63 - 1, ()))
    words = np.random.Generator(np.random.SFC64(seed)).integers(2**64, size=-(-x.numel() // 4), dtype=np.uint64)
    draws = torch.from_numpy(words.view(np.int16)[: x.numel()]).view(x.shape)  # uniform in -2¹⁵ … 2¹⁵-1
    mask = torch.empty_like(x, memory_format=torch.contiguous_format)
    return torch.ge(draws, round(p * 2**16) - 2**15, out=mask)


class _MaskedScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, p: float) -> Tensor:  # type: ignore[no-untyped-def]
        mask = _keep(x, p)
        ctx.save_for_backward(mask)
        ctx.scale = 1 / (1 - p)
        return (x * mask).mul_(ctx.scale)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        (mask,) = ctx.saved_tensors
        return (gradient * mask).mul_(ctx.scale), None
