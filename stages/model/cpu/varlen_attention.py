"""Causal softmax attention of packed sequences of any lengths, on the CPU (varlen_attention.cpp)."""

from typing import Any

import torch
from torch import Tensor

from stages.model.cpu.calls import Attention, address
from stages.model.cpu.kernels import call, seeded, serve
from stages.model.ops import embed
from stages.model.packing import Packing

LARGEST_HEAD = 128  # channels that the kernels have registers for
EVERYWHERE = 2**40  # a window that nothing is outside of

Angles = tuple[Tensor, Tensor]  # cosine and sine, (≥ T, hs/2) each


def serves(x: Tensor, head_size: int) -> bool:
    """Whether attention of x's kind is computed here."""
    return serve(x) and head_size <= LARGEST_HEAD


def attend_varlen(
    queries: Tensor,
    keys_values: Tensor | None,
    packing: Packing,
    key_packing: Packing,
    heads: tuple[int, int],
    dropout_rate: float,
    window: int | None = None,
    angles: Angles | None = None,
) -> Tensor:
    """dropout(softmax(QKᵀ/√hs))V of each sequence; query t sees the last `window` keys up to the t-th, all with None.

    queries: (N, …), the queries' heads, and behind them those of keys and values unless these are in `keys_values`
    (M, …); packing, key_packing: of the N queries and the M keys; heads: numbers of query heads and of key heads, each
    of which serves an equal group of the former; angles: by which queries and keys are rotated. Every query sees a
    key. Returns (N, C).
    """
    return _AttendVarlen.apply(queries, keys_values, packing, key_packing, heads, dropout_rate, window, angles)


def attend_by_position(
    queries: Tensor, values: Tensor, packing: Packing, table: Tensor, bias: Tensor, heads: int, dropout_rate: float
) -> Tensor:
    """dropout(softmax(Q Tᵀ + b))V of each sequence: keys that depend on their position alone, the same for all heads.

    queries, values: (N, C); table T: (S, hs); bias b: (S,). Positions from S on have no key, so nothing reads their
    values. Returns (N, C).
    """
    positions = packing.positions.clamp(max=len(table) - 1)
    keys, biases = embed(table, positions), embed(bias[:, None], positions)
    return _AttendByPosition.apply(queries, keys, biases, values, packing, len(table), heads, dropout_rate)


class _AttendVarlen(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys_values: Tensor | None,
        packing: Packing,
        key_packing: Packing,
        heads: tuple[int, int],
        dropout_rate: float,
        window: int | None,
        angles: Angles | None,
    ) -> Tensor:
        queries, keys_values = queries.contiguous(), None if keys_values is None else keys_values.contiguous()
        (query_heads, key_heads), both = heads, queries if keys_values is None else keys_values
        head_size = queries.shape[1] // (query_heads + 2 * key_heads if keys_values is None else query_heads)
        cosine, sine = angles or (None, None)
        # C++ checks nothing
        assert (
            len(queries) == sum(packing.sizes) and len(both) == sum(key_packing.sizes) and queries.dtype == both.dtype
        )
        assert packing.extents.shape == key_packing.extents.shape and query_heads % key_heads == 0
        assert cosine is None or len(cosine) > max(int(each.positions.max()) for each in (packing, key_packing))
        for table in (cosine, sine):
            assert table is None or (table.dtype == queries.dtype and table.shape[1] == head_size // 2)
        ctx.keys_from = query_heads * head_size if keys_values is None else 0  # columns
        ctx.values_from = ctx.keys_from + key_heads * head_size
        shape = {"heads": query_heads, "key_heads": key_heads, "value_heads": key_heads, "size": head_size}
        strides = {"query_stride": queries.shape[1], "key_stride": both.shape[1], "value_stride": both.shape[1]}
        scores = {"window": window or EVERYWHERE, "cosine": cosine, "sine": sine, "scale": head_size**-0.5}
        sequences = _sequences(packing.extents, key_packing.extents)
        ctx.call = sequences | shape | strides | scores | seeded(dropout_rate)
        y = queries.new_empty(len(queries), query_heads * head_size)
        sums = queries.new_empty(len(queries), query_heads, dtype=torch.float32)  # log Σ exp of each query's scores
        keys, values = (address(both, at) for at in (ctx.keys_from, ctx.values_from))
        call("attention", Attention(queries=queries, keys=keys, values=values, outputs=y, sums=sums, **ctx.call))
        ctx.save_for_backward(queries, keys_values, sums)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys_values, sums = ctx.saved_tensors
        to_queries = torch.empty_like(queries)
        to_keys_values = None if keys_values is None else torch.empty_like(keys_values)
        both = queries if keys_values is None else keys_values
        to_both = to_queries if to_keys_values is None else to_keys_values
        keys, values, to_keys, to_values = (
            address(each, at) for each in (both, to_both) for at in (ctx.keys_from, ctx.values_from)
        )
        read: dict[str, Any] = {"queries": queries, "keys": keys, "values": values, "sums": sums}
        written: dict[str, Any] = {"to_queries": to_queries, "to_keys": to_keys, "to_values": to_values}
        call("attention", Attention(**read, gradient=gradient.contiguous(), **written, **ctx.call))
        return to_queries, to_keys_values, None, None, None, None, None, None


class _AttendByPosition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        bias: Tensor,
        values: Tensor,
        packing: Packing,
        positions: int,
        heads: int,
        dropout_rate: float,
    ) -> Tensor:
        queries, keys, bias, values = (each.contiguous() for each in (queries, keys, bias, values))
        starts, lengths = packing.extents
        head_size = keys.shape[1]
        assert len(queries) == len(keys) == len(bias) == len(values) == sum(packing.sizes)
        assert queries.shape == values.shape and queries.shape[1] == heads * head_size and bias.shape[1] == 1
        assert queries.dtype == keys.dtype == bias.dtype == values.dtype
        shape = {"heads": heads, "key_heads": 1, "value_heads": heads, "size": head_size}
        strides = {"query_stride": queries.shape[1], "key_stride": head_size, "value_stride": values.shape[1]}
        sequences = _sequences(packing.extents, torch.stack([starts, lengths.clamp(max=positions)]))
        ctx.call = sequences | shape | strides | {"window": EVERYWHERE, "scale": 1.0} | seeded(dropout_rate)
        ctx.reads_all = int(lengths.max()) <= positions
        y = torch.empty_like(values)
        sums = values.new_empty(len(values), heads, dtype=torch.float32)
        read = {"queries": queries, "keys": keys, "values": values, "biases": bias}
        call("attention", Attention(**read, outputs=y, sums=sums, **ctx.call))
        ctx.save_for_backward(queries, keys, bias, values, sums)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, bias, values, sums = ctx.saved_tensors
        new = torch.empty_like if ctx.reads_all else torch.zeros_like  # nothing is written where nothing was read
        to_queries, to_keys, to_bias, to_values = torch.empty_like(queries), new(keys), new(bias), new(values)
        read = {"queries": queries, "keys": keys, "values": values, "biases": bias, "sums": sums}
        written = {"to_queries": to_queries, "to_keys": to_keys, "to_values": to_values, "to_biases": to_bias}
        call("attention", Attention(gradient=gradient.contiguous(), **read, **written, **ctx.call))
        return to_queries, to_keys, to_bias, to_values, None, None, None, None


def _sequences(extents: Tensor, key_extents: Tensor) -> dict[str, Any]:
    """Where each sequence's queries, and keys, start and how many they are. extents: (2, sequences)."""
    names = ("starts", "lengths", "key_starts", "key_lengths")
    return {"sequences": extents.shape[1]} | dict(zip(names, (*extents, *key_extents), strict=True))
