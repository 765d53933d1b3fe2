"""What the model does to numbers one by one, in float32 where torch's bfloat16 is too coarse: LayerNorm, embeddings."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.packing import Packing


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
