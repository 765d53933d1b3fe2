"""The channels of a tensor by head, and back."""

from torch import Tensor


def split_heads(x: Tensor, heads: int) -> Tensor:
    """x (B, T, heads · hs) → (B, heads, T, hs), without a copy."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """x (B, heads, T, hs) → (B, T, heads · hs)."""
    return x.transpose(1, 2).flatten(2)
