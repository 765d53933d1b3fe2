"""The operations between a step's matrix products: dropout, GELU, LayerNorm.

Each operation has one meaning and two ways to compute it: torch's own operations, and on a CPU kernels that go over
the memory once, forward and backward (kernels.cpp). tests/model/test_ops.py holds them equal. Dropout draws 32 bits
a value from a hash of its offset, seeded by torch's generator: `torch.manual_seed` governs it as ever, and nothing is
kept for the backward pass.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from stages.model.cpu.kernels import AddDropout, Gelu, Norm, call, seeded, serve
from stages.model.packing import Packing

EPSILON = 1e-5  # LayerNorm's, as torch has it


def add_dropout(residual: Tensor, x: Tensor, bias: Tensor | None, dropout_rate: float) -> Tensor:
    """residual + dropout(x + bias). residual, x: (N, C); bias: (C,), or None for none."""
    if serve(x):
        return _AddDropout.apply(residual, x, bias, dropout_rate)
    return residual + F.dropout(x if bias is None else x + bias, dropout_rate)


def add_linear(residual: Tensor, x: Tensor, weight: Tensor, bias: Tensor, dropout_rate: float) -> Tensor:
    """residual + dropout(xWᵀ + b). residual: (N, C); x: (N, D); W: (C, D); b: (C,)."""
    if x.is_cpu:
        return add_dropout(residual, F.linear(x, weight), bias, dropout_rate)
    return residual + F.dropout(F.linear(x, weight, bias), dropout_rate)


def dropout(x: Tensor, dropout_rate: float) -> Tensor:
    """Zero x (any shape) at a rate, and scale what is left so that the expectation stays."""
    if dropout_rate and serve(x):
        return _AddDropout.apply(None, x, None, dropout_rate)
    return F.dropout(x, dropout_rate)


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """GELU(xWᵀ + b), the exact form: value times normal distribution function. x: (N, C); W: (D, C); b: (D,)."""
    if serve(x):
        return _LinearGelu.apply(x, weight, bias)
    return F.gelu(F.linear(x, weight) + bias if x.is_cpu else F.linear(x, weight, bias))


def embed(table: Tensor, numbers: Tensor) -> Tensor:
    """Rows of a table (V, C) by their numbers (N,): (N, C).

    Hundreds of characters add to the gradient of one row, so it is summed in float32 whatever the table's type:
    torch's sum in bfloat16 is 5 to 20 % off for a frequent character.
    """
    return F.embedding(numbers, wide(table)).to(table.dtype)


def embed_positions(table: Tensor, packing: Packing) -> Tensor:
    """Each character's vector by its position in its sequence. table: (≥ T, C); returns (N, C)."""
    if all(part.is_full for part in packing.parts):  # nothing to look up
        return torch.cat([table[: part.width].expand(*part.shape, -1).flatten(0, 1) for part in packing.parts])
    return embed(table, packing.positions.to(table.device))


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """LayerNorm over the last axis (Ba et al. 2016, arXiv 1607.06450). x: (N, C); weight, bias: (C,)."""
    if serve(x):
        return _LayerNorm.apply(x, weight, bias)
    if x.is_cpu:  # its bfloat16 sums of the weight's and the bias's gradients are far off
        return F.layer_norm(wide(x), weight.shape, wide(weight), wide(bias), EPSILON).to(x.dtype)
    return F.layer_norm(x, weight.shape, weight, bias, EPSILON)


def wide(x: Tensor) -> Tensor:
    """Turn x into float32, unless it is wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


class _AddDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, residual: Tensor | None, x: Tensor, bias: Tensor | None, dropout_rate: float) -> Tensor:
        ctx.has_residual, ctx.has_bias = residual is not None, bias is not None
        x, residual = x.contiguous(), None if residual is None else residual.contiguous()
        ctx.call = _matrix(x) | seeded(dropout_rate)
        result = torch.empty_like(x)
        call("dropout_forward", AddDropout(x=x, bias=bias, residual=residual, result=result, **ctx.call))
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None, None]:
        gradient = gradient.contiguous()
        result = torch.empty_like(gradient)
        bias_gradient = _sums(gradient) if ctx.has_bias else None
        call("dropout_backward", AddDropout(gradient=gradient, result=result, bias_gradient=bias_gradient, **ctx.call))
        to_bias = None if bias_gradient is None else bias_gradient.to(gradient.dtype)
        return gradient if ctx.has_residual else None, result, to_bias, None


class _LinearGelu(torch.autograd.Function):
    """Product and GELU in one memory: these are a block's largest tensors."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        y = F.linear(x, weight)  # (N, D)
        slope = torch.empty_like(y) if any(ctx.needs_input_grad) else None
        call("gelu_forward", Gelu(x=y, bias=bias, result=y, slope=slope, **_matrix(y)))
        ctx.save_for_backward(x, weight)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        y, ctx.slope = ctx.slope, None  # its memory takes the result: there is one backward pass
        gradient, bias_gradient = gradient.contiguous(), _sums(y)
        call("gelu_backward", Gelu(slope=y, gradient=gradient, result=y, bias_gradient=bias_gradient, **_matrix(y)))
        return y @ weight, y.t() @ x, bias_gradient.to(y.dtype)


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        statistics = x.new_empty(x.shape[:-1].numel(), 2, dtype=torch.float32)  # mean and 1/σ
        ctx.call = _matrix(x) | {"epsilon": EPSILON}
        call("norm_forward", Norm(x=x, weight=weight, bias=bias, result=y, statistics=statistics, **ctx.call))
        ctx.save_for_backward(x, weight, statistics)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight, statistics = ctx.saved_tensors
        gradient, result = gradient.contiguous(), torch.empty_like(x)
        weight_gradient, bias_gradient = _sums(x), _sums(x)
        read = {"x": x, "weight": weight, "gradient": gradient, "statistics": statistics}
        written = {"result": result, "weight_gradient": weight_gradient, "bias_gradient": bias_gradient}
        call("norm_backward", Norm(**read, **written, **ctx.call))
        return result, weight_gradient.to(x.dtype), bias_gradient.to(x.dtype)


def _matrix(x: Tensor) -> dict[str, int]:
    """Rows and columns of x (…, C) as a matrix."""
    return {"rows": x.numel() // x.shape[-1], "width": x.shape[-1]}


def _sums(x: Tensor) -> Tensor:
    """Memory for the sums of x's columns: (C,) float32."""
    return x.new_empty(x.shape[-1], dtype=torch.float32)
