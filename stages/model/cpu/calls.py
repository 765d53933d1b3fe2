"""The arguments of each kernel by name: the structs of kernels.cpp and varlen_attention.cpp, field by field."""

import ctypes
from typing import Any

from torch import Tensor

Argument = Tensor | ctypes.c_void_p | float | None


class Call(ctypes.Structure):
    """Arguments that are not given are null or 0. Tensors are contiguous and live as long as the call."""

    def __init__(self, **values: Argument) -> None:
        super().__init__(**{name: address(x) if isinstance(x, Tensor) else x for name, x in values.items()})
        self.given = values
        self.dtype = next(x.dtype for x in values.values() if isinstance(x, Tensor))


def address(x: Tensor, column: int = 0) -> ctypes.c_void_p:
    """Where a contiguous tensor, of (N, …) its columns from the one given, lies in memory."""
    assert x.is_contiguous()
    return ctypes.c_void_p(x.data_ptr() + column * x.element_size())


def _fields(pointers: str, integers: str, reals: str = "", unsigned: str = "") -> list[tuple[str, Any]]:
    """Fields in the structs' order of types: all pointers first; names are separated by spaces."""
    kinds = ((ctypes.c_void_p, pointers), (ctypes.c_int64, integers), (ctypes.c_double, reals))
    return [(name, kind) for kind, names in (*kinds, (ctypes.c_uint64, unsigned)) for name in names.split()]


class AddDropout(Call):
    """x, residual, gradient, result: (rows, width); bias: (width,); bias_gradient: the same, float32."""

    _fields_ = _fields("x bias residual gradient result bias_gradient", "rows width", "dropout_rate", "seed")


class Gelu(Call):
    """x, gradient, result, slope: (rows, width); bias: (width,); bias_gradient: the same, float32."""

    _fields_ = _fields("x bias gradient result slope bias_gradient", "rows width")


class Norm(Call):
    """x, gradient, result: (rows, width); weight, bias: (width,); float32 are statistics (rows, 2) and gradients."""

    _fields_ = _fields(
        "x weight bias gradient result statistics weight_gradient bias_gradient", "rows width", "epsilon"
    )


class Attention(Call):
    """Shapes stand in varlen_attention.cpp."""

    _fields_ = _fields(
        "queries keys values biases outputs sums gradient to_queries to_keys to_values to_biases "
        "starts lengths key_starts key_lengths cosine sine",
        "sequences heads key_heads value_heads size query_stride key_stride value_stride window",
        "scale dropout_rate",
        "seed",
    )
