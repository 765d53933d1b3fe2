"""Operations that torch does coarsely, or slowly, on a CPU: LayerNorm, embeddings, dropout, attention.

Dropout, and attention of sequences of any lengths, are kernels in C++ there (kernels.cpp).
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.library import has_kernels, kernels_for
from stages.model.packing import Packing

EVERYWHERE = 2**40  # a window that nothing is outside of

Angles = tuple[Tensor, Tensor]  # cosine and sine, (≥ T, hs/2) each
Argument = Tensor | ctypes.c_void_p | float | None
Columns = dict[str, tuple[int, int]]  # what the kernel reads: in which of the tensors, from which column on


class LayerNorm(nn.LayerNorm):
    """LayerNorm over the last axis (Ba et al. 2016, arXiv 1607.06450). x: (…, C)."""

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cpu:  # torch's sums of the weight's and the bias's gradients in bfloat16 are 7 to 11 % off there
            return F.layer_norm(wide(x), self.normalized_shape, wide(self.weight), wide(self.bias)).to(x.dtype)
        return super().forward(x)


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


def wide(x: Tensor) -> Tensor:
    """Turn x into float32, unless it is wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


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


class DropoutCall(Call):
    """x, result: so many values."""

    _fields_ = _fields("x result", "values", "dropout_rate", "seed")


class AttentionCall(Call):
    """Shapes stand in kernels.cpp."""

    _fields_ = _fields(
        "queries keys values biases outputs sums gradient to_queries to_keys to_values to_biases "
        "starts lengths key_starts key_lengths cosine sine",
        "sequences heads key_heads value_heads size query_stride key_stride value_stride window",
        "scale dropout_rate",
        "seed",
    )


def call(name: str, arguments: Call) -> None:
    """Run the kernel `name` for numbers of the type that the first tensor given has; tensors are contiguous."""
    getattr(kernels_for(arguments.dtype), name)(ctypes.byref(arguments))


def seeded(dropout_rate: float) -> dict[str, float]:
    """Arguments of a kernel's dropout: the rate, and a seed from torch's generator, 0 where nothing is dropped."""
    return {"dropout_rate": dropout_rate, "seed": int(torch.randint(2**63 - 1, ())) if dropout_rate else 0}


def dropout(x: Tensor, dropout_rate: float) -> Tensor:
    """Zero x (any shape) at a rate, and scale what is left so that the expectation stays.

    A kernel draws 32 bits a value from a hash of its offset, seeded by torch's generator: `torch.manual_seed` governs
    it as ever, and no mask is kept for the backward pass. Where no kernel serves this is torch's own.
    """
    if dropout_rate and has_kernels(x):
        return _Dropout.apply(x, dropout_rate)
    return F.dropout(x, dropout_rate)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dropout_rate: float) -> Tensor:
        ctx.seeded = seeded(dropout_rate)
        return _dropped(x, ctx.seeded)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _dropped(gradient, ctx.seeded), None


def _dropped(x: Tensor, seeded: dict[str, float]) -> Tensor:
    x = x.contiguous()
    result = torch.empty_like(x)
    call("dropout", DropoutCall(x=x, result=result, values=x.numel(), **seeded))
    return result


def head_size_of(tensors: Sequence[Tensor], heads: tuple[int, int]) -> int:
    """Channels of a head; arguments as of `attend_varlen`."""
    query_heads, key_heads = heads
    return tensors[0].shape[1] // (query_heads + (2 * key_heads if len(tensors) == 1 else 0))


def attend_varlen(
    tensors: Sequence[Tensor],
    packings: Sequence[Packing],
    heads: tuple[int, int],
    dropout_rate: float,
    window: int | None = None,
    angles: Angles | None = None,
) -> Tensor:
    """dropout(softmax(QKᵀ/√hs))V of each sequence; query t sees the last `window` keys up to the t-th, all with None.

    tensors: one that holds the heads of queries, keys and values side by side (N, …), or two, the queries (N, C) and
    the keys and values (M, …); packings: one for each; heads: numbers of query heads and of key heads, each of which
    serves an equal group of the former; angles: by which queries and keys are rotated. Every query sees a key. Returns
    (N, C).
    """
    (query_heads, key_heads), queries, keys_values = heads, tensors[0], tensors[-1]
    size = head_size_of(tensors, heads)
    keys_from = keys_values.shape[1] - 2 * key_heads * size
    columns = {"queries": (0, 0), "keys": (-1, keys_from), "values": (-1, keys_from + key_heads * size)}
    cosine, sine = angles or (None, None)
    if cosine is not None and sine is not None:
        assert len(cosine) > max(int(packing.positions.max()) for packing in packings)
        assert cosine.dtype == sine.dtype == queries.dtype and cosine.shape[1] == sine.shape[1] == size // 2

    layout = _sequences(packings[0].extents, packings[-1].extents) | {
        "heads": query_heads, "key_heads": key_heads, "value_heads": key_heads, "size": size,
        "query_stride": queries.shape[1], "key_stride": keys_values.shape[1], "value_stride": keys_values.shape[1],
        "window": window or EVERYWHERE, "cosine": cosine, "sine": sine, "scale": size**-0.5,
    }  # fmt: skip
    return _Attend.apply(columns, layout, dropout_rate, packings, *tensors)


def attend_by_position(
    queries: Tensor, values: Tensor, packing: Packing, table: Tensor, bias: Tensor, heads: int, dropout_rate: float
) -> Tensor:
    """dropout(softmax(Q Tᵀ + b))V of each sequence: keys that depend on their position alone, the same for all heads.

    queries, values: (N, C); table T: (S, hs); bias b: (S,). Positions from S on have no key, so nothing reads their
    values. Returns (N, C).
    """
    size = table.shape[1]
    positions = packing.positions.clamp(max=len(table) - 1)
    tensors = [queries, embed(table, positions), values, embed(bias[:, None], positions)]
    columns = {"queries": (0, 0), "keys": (1, 0), "values": (2, 0), "biases": (3, 0)}
    assert queries.shape == values.shape and queries.shape[1] == heads * size
    starts, lengths = packing.extents
    layout = _sequences(packing.extents, torch.stack([starts, lengths.clamp(max=len(table))])) | {
        "heads": heads, "key_heads": 1, "value_heads": heads, "size": size,
        "query_stride": queries.shape[1], "key_stride": size, "value_stride": values.shape[1],
        "window": EVERYWHERE, "scale": 1.0,
    }  # fmt: skip
    return _Attend.apply(columns, layout, dropout_rate, [packing] * len(tensors), *tensors)


class _Attend(torch.autograd.Function):
    """A call of the kernel, whose arguments but for the tensors are the same on the way forward and back."""

    @staticmethod
    def forward(
        ctx: Any, columns: Columns, layout: Any, dropout_rate: float, packings: Sequence[Packing], *tensors: Tensor
    ) -> Tensor:
        tensors = tuple(x.contiguous() for x in tensors)
        for x, packing in zip(tensors, packings, strict=True):  # C++ checks nothing
            assert x.dtype == tensors[0].dtype and len(x) == int(packing.extents[1].sum())
            assert packing.extents.shape == packings[0].extents.shape
        ctx.columns, ctx.call = columns, layout | seeded(dropout_rate)
        N, heads = len(tensors[0]), layout["heads"]
        outputs = tensors[0].new_empty(N, heads * layout["size"])
        sums = tensors[0].new_empty(N, heads, dtype=torch.float32)  # log Σ exp of each query's scores
        read = {name: address(tensors[i], column) for name, (i, column) in columns.items()}
        call("attention", AttentionCall(outputs=outputs, sums=sums, **read, **ctx.call))
        ctx.save_for_backward(*tensors, sums)
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, sums = ctx.saved_tensors
        is_all_read = int(ctx.call["key_lengths"].sum()) == len(tensors[-1])  # or nothing is written there
        gradients = [torch.empty_like(x) if is_all_read else torch.zeros_like(x) for x in tensors]
        read = {name: address(tensors[i], column) for name, (i, column) in ctx.columns.items()}
        written = {f"to_{name}": address(gradients[i], column) for name, (i, column) in ctx.columns.items()}
        call("attention", AttentionCall(gradient=gradient.contiguous(), sums=sums, **read, **written, **ctx.call))
        return None, None, None, None, *gradients


def _sequences(extents: Tensor, key_extents: Tensor) -> dict[str, Any]:
    """Where each sequence's queries, and keys, start and how many they are. extents: (2, sequences)."""
    names = ("starts", "lengths", "key_starts", "key_lengths")
    return {"sequences": extents.shape[1]} | dict(zip(names, (*extents, *key_extents), strict=True))
