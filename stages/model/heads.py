"""A batch's heads as rectangles, and back: for mixers that need them. On a CPU by compiled kernels, as in fused.py."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.calls import Heads
from stages.model.cpu.kernels import call, serve
from stages.model.packing import Packing, Part


def split_heads(x: Tensor, packing: Packing, heads: int, kinds: int = 3) -> list[tuple[Tensor, ...]]:
    """The heads of a batch's parts, as rectangles: zeros past the end of a sequence.

    x: (N, kinds·C); kinds is 1 or, for queries, keys and values, 3. Returns as many (B, nh, T, hs) for each part.
    """
    if serve(x):
        flat = _SplitHeads.apply(x, packing, heads, kinds)
        return [tuple(flat[i : i + kinds]) for i in range(0, len(flat), kinds)]
    rectangles = [_rectangle(part, each) for part, each in zip(x.split(packing.sizes), packing.parts, strict=True)]
    split = [part.view(*part.shape[:2], kinds, heads, -1) for part in rectangles]
    return [part.permute(2, 0, 3, 1, 4).unbind() for part in split]


def merge_heads(parts: Sequence[Tensor], packing: Packing) -> Tensor:
    """(B, nh, T, hs) of each part → (N, C), without what is past the end of a sequence."""
    if serve(parts[0]):
        return _MergeHeads.apply(packing, *parts)
    flat = [part.transpose(1, 2).flatten(2) for part in parts]  # (B, T, C)
    joined = [
        x.flatten(0, 1) if part.is_full else x[part.filled()] for x, part in zip(flat, packing.parts, strict=True)
    ]
    return torch.cat(joined)


def _rectangle(x: Tensor, part: Part) -> Tensor:
    """(characters, C) of a part → (B, T, C), zeros past the end of a sequence."""
    if part.is_full:
        return x.view(*part.shape, -1)
    padded = nn.utils.rnn.pad_sequence(x.split(list(part.lengths)), batch_first=True)  # as wide as the longest sequence
    return F.pad(padded, (0, 0, 0, part.width - padded.shape[1]))


class _SplitHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, packing: Packing, heads: int, kinds: int) -> tuple[Tensor, ...]:
        ctx.packing, ctx.kinds = packing, kinds
        return tuple(kind for part in _split(x, packing, heads, kinds) for kind in part)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        parts = [gradients[i : i + ctx.kinds] for i in range(0, len(gradients), ctx.kinds)]
        return _merge(parts, ctx.packing), None, None, None


class _MergeHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packing: Packing, *parts: Tensor) -> Tensor:
        ctx.heads, ctx.packing = parts[0].shape[1], packing
        return _merge([(part,) for part in parts], packing)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, *(part[0] for part in _split(gradient, ctx.packing, ctx.heads, kinds=1))


def _split(x: Tensor, packing: Packing, heads: int, kinds: int) -> list[Tensor]:
    """x (N, kinds·C) → (kinds, B, nh, T, hs) for each part."""
    x, head_size = x.contiguous(), x.shape[1] // (kinds * heads)
    assert len(x) == sum(packing.sizes)
    parts = []
    for (B, T), extents in _extents(packing):
        part = x.new_empty(kinds, B, heads, T, head_size)
        call("split_heads", _heads(x, part, extents, heads))
        parts.append(part)
    return parts


def _merge(parts: Sequence[Sequence[Tensor]], packing: Packing) -> Tensor:
    """As many (B, nh, T, hs) as there are kinds, for each part → (N, kinds·C)."""
    kinds, (_, heads, _, head_size) = len(parts[0]), parts[0][0].shape
    merged = parts[0][0].new_empty(sum(packing.sizes), kinds * heads * head_size)
    for part, ((B, T), extents) in zip(parts, _extents(packing), strict=True):
        rectangles = [kind.contiguous() for kind in part]
        assert all(each.shape == (B, heads, T, head_size) for each in rectangles)
        call("merge_heads", _heads(merged, rectangles, extents, heads))
    return merged


def _extents(packing: Packing) -> list[tuple[torch.Size, Tensor]]:
    """Of each part its (B, T), and where its sequences start in (N, C) and their lengths: (2, B)."""
    extents = packing.extents.split([part.shape[0] for part in packing.parts], dim=1)
    return [(part.shape, each) for part, each in zip(packing.parts, extents, strict=True)]


def _heads(joined: Tensor, kinds: Iterable[Tensor], extents: Tensor, heads: int) -> Heads:
    """Queries, keys and values, or one of them alone, of a part, and the tensor where they stand side by side."""
    parts = list(kinds)
    (B, _, T, head_size), (starts, lengths) = parts[0].shape, extents
    named = dict(zip(("first", "second", "third"), parts, strict=False))
    shape = {"batch": B, "time": T, "heads": heads, "size": head_size, "kinds": len(parts)}
    return Heads(x=joined, **named, starts=starts, lengths=lengths, **shape)
