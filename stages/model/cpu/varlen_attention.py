"""Causal softmax attention of rows of any lengths without PAD between them: the CPU's way (varlen_attention.cpp)."""

from typing import Any

import torch
from torch import Tensor

from stages.model.cpu.fused import embed
from stages.model.cpu.kernels import address, call, random_seed, serve
from stages.model.packing import Packing

LARGEST_HEAD = 128  # channels the kernels have registers for
EVERYWHERE = 2**40  # a window that nothing is outside of
NO_GRADIENTS = (None,) * 5  # on the way there

Angles = tuple[Tensor, Tensor]  # cosine and sine, (≥ T, hs/2) each


def serves(x: Tensor, head_size: int) -> bool:
    """Whether attention of x's kind is computed here."""
    return serve(x) and head_size <= LARGEST_HEAD


def attend_varlen(
    asking: Tensor,
    asked: Tensor | None,
    rows: Packing,
    keys: Packing,
    heads: tuple[int, int],
    share_dropped: float,
    window: int | None = None,
    angles: Angles | None = None,
) -> Tensor:
    """dropout(softmax(QKᵀ/√hs))V of each row; query t sees the last `window` keys up to the t-th, all with None.

    asking: (N, …) with the queries' heads, and behind them those of keys and values unless these are in asked (M, …);
    rows, keys: how the N queries and the M keys belong to rows; heads: how many queries and how many keys have, the
    latter shared by equal groups of the former; angles: queries and keys are rotated by these. Every query sees a key.
    Returns (N, C).
    """
    y: Tensor = _AttendRows.apply(asking, asked, rows, keys, heads, share_dropped, window, angles)
    return y


def attend_by_position(
    queries: Tensor, values: Tensor, rows: Packing, table: Tensor, bias: Tensor, heads: int, share_dropped: float
) -> Tensor:
    """dropout(softmax(Q Tᵀ + b))V of each row: keys that depend on their position alone, the same for all heads.

    queries, values: (N, C); table T: (S, hs); bias b: (S,). Positions from S on have no key, so nothing reads their
    values. Returns (N, C).
    """
    places = rows.positions.clamp(max=len(table) - 1)
    y: Tensor = _AttendByPosition.apply(
        queries, embed(table, places), embed(bias[:, None], places), values, rows, len(table), heads, share_dropped
    )
    return y


class _AttendRows(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        asking: Tensor,
        asked: Tensor | None,
        rows: Packing,
        keys: Packing,
        heads: tuple[int, int],
        share_dropped: float,
        window: int | None,
        angles: Angles | None,
    ) -> Tensor:
        asking, asked = asking.contiguous(), None if asked is None else asked.contiguous()
        (query_heads, key_heads), both = heads, asking if asked is None else asked
        head_size = asking.shape[1] // (query_heads + 2 * key_heads if asked is None else query_heads)
        cosine, sine = angles or (None, None)
        # C++ asks nothing: what does not fit is to end here
        assert len(asking) == sum(rows.sizes) and len(both) == sum(keys.sizes) and asking.dtype == both.dtype
        assert rows.places.shape == keys.places.shape and query_heads % key_heads == 0
        assert cosine is None or len(cosine) > max(int(each.positions.max()) for each in (rows, keys))
        for table in (cosine, sine):
            assert table is None or (table.dtype == asking.dtype and table.shape[1] == head_size // 2)
        ctx.keys_from = query_heads * head_size if asked is None else 0  # columns
        ctx.values_from = ctx.keys_from + key_heads * head_size
        ctx.arguments = (
            *rows.places, *keys.places, rows.places.shape[1], query_heads, key_heads, key_heads, head_size,
            asking.shape[1], both.shape[1], both.shape[1], window or EVERYWHERE, cosine, sine, head_size**-0.5,
            float(share_dropped), random_seed(share_dropped),
        )  # fmt: skip
        y = asking.new_empty(len(asking), query_heads * head_size)
        sums = asking.new_empty(len(asking), query_heads, dtype=torch.float32)  # log Σ exp of each query's scores
        k, v = (address(both, at) for at in (ctx.keys_from, ctx.values_from))
        call("attention", asking.dtype, asking, k, v, None, y, sums, *NO_GRADIENTS, *ctx.arguments)
        ctx.save_for_backward(asking, asked, sums)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        asking, asked, sums = ctx.saved_tensors
        to_asking, to_asked = torch.empty_like(asking), None if asked is None else torch.empty_like(asked)
        both, to_both = asking if asked is None else asked, to_asking if to_asked is None else to_asked
        k, v, to_k, to_v = (address(each, at) for each in (both, to_both) for at in (ctx.keys_from, ctx.values_from))
        call("attention", asking.dtype, asking, k, v, None, None, sums, gradient.contiguous(), to_asking, to_k, to_v,
             None, *ctx.arguments)  # fmt: skip
        return to_asking, to_asked, None, None, None, None, None, None


class _AttendByPosition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        bias: Tensor,
        values: Tensor,
        rows: Packing,
        positions: int,
        heads: int,
        share_dropped: float,
    ) -> Tensor:
        queries, keys, bias, values = (each.contiguous() for each in (queries, keys, bias, values))
        starts, lengths = rows.places
        head_size = keys.shape[1]
        assert len(queries) == len(keys) == len(bias) == len(values) == sum(rows.sizes)
        assert queries.shape == values.shape and queries.shape[1] == heads * head_size and bias.shape[1] == 1
        assert queries.dtype == keys.dtype == bias.dtype == values.dtype
        ctx.arguments = (
            starts, lengths, starts, lengths.clamp(max=positions), len(starts), heads, 1, heads, head_size,
            queries.shape[1], head_size, values.shape[1], EVERYWHERE, None, None, 1.0, float(share_dropped),
            random_seed(share_dropped),
        )  # fmt: skip
        ctx.reads_all = int(lengths.max()) <= positions
        y = torch.empty_like(values)
        sums = values.new_empty(len(values), heads, dtype=torch.float32)
        call("attention", y.dtype, queries, keys, values, bias, y, sums, *NO_GRADIENTS, *ctx.arguments)
        ctx.save_for_backward(queries, keys, bias, values, sums)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, bias, values, sums = ctx.saved_tensors
        new = torch.empty_like if ctx.reads_all else torch.zeros_like  # nothing is written where nothing was read
        to_queries, to_keys, to_bias, to_values = torch.empty_like(queries), new(keys), new(bias), new(values)
        call("attention", values.dtype, queries, keys, values, bias, None, sums, gradient.contiguous(), to_queries,
             to_keys, to_values, to_bias, *ctx.arguments)  # fmt: skip
        return to_queries, to_keys, to_bias, to_values, None, None, None, None
