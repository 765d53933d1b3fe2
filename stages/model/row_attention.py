"""Causal softmax attention of rows of any lengths without PAD between them: the CPU's way (row_attention.cpp)."""

from typing import Any

import torch
from torch import Tensor

from stages.model.kernels import call, random_seed, serve
from stages.model.rows import Rows

LARGEST_HEAD = 128  # channels the kernels have registers for
EVERYWHERE = 2**40  # a window that nothing is outside of

Angles = tuple[Tensor, Tensor]  # cosine and sine, (≥ T, hs/2) each


def serves(x: Tensor, head_size: int) -> bool:
    """Whether `attend_rows` computes attention of x's kind."""
    return serve(x) and head_size <= LARGEST_HEAD


def attend_rows(
    asking: Tensor,
    asked: Tensor | None,
    rows: Rows,
    keys: Rows,
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


class _AttendRows(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        asking: Tensor,
        asked: Tensor | None,
        rows: Rows,
        keys: Rows,
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
        ctx.arguments = (
            *rows.places, *keys.places, rows.places.shape[1], query_heads, key_heads, head_size, asking.shape[1],
            both.shape[1], window or EVERYWHERE, cosine, sine, head_size**-0.5, float(share_dropped),
            random_seed(share_dropped),
        )  # fmt: skip
        y = asking.new_empty(len(asking), query_heads * head_size)
        sums = asking.new_empty(len(asking), query_heads, dtype=torch.float32)  # log Σ exp of each query's scores
        call("attention", asking.dtype, asking, asked, y, sums, None, None, None, *ctx.arguments)
        ctx.save_for_backward(asking, asked, sums)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        asking, asked, sums = ctx.saved_tensors
        to_asking, to_asked = torch.empty_like(asking), None if asked is None else torch.empty_like(asked)
        call("attention", asking.dtype, asking, asked, None, sums, gradient.contiguous(), to_asking, to_asked,
             *ctx.arguments)  # fmt: skip
        return to_asking, to_asked, None, None, None, None, None, None
