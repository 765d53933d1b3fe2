"""One residual block."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.fused import add_dropout, layer_norm, linear_gelu
from stages.model.mixer import Mixer
from stages.model.packing import Packing
from stages.settings import Model


class Block(nn.Module):
    """x + mix(norm(x)), then x + mlp(norm(x)): pre-LayerNorm, GELU MLP of four times the width.

    All but the mixer works on characters one by one, so it takes those of a whole batch at once, whatever the rows
    they belong to.
    """

    def __init__(self, model: Model, mixer: Mixer) -> None:
        super().__init__()
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer = mixer
        self.norm_mlp = nn.LayerNorm(model.width)
        self.expand = nn.Linear(model.width, 4 * model.width)
        self.contract = nn.Linear(4 * model.width, model.width)
        self.share_dropped = model.dropout

    def forward(self, x: Tensor, rows: Packing, state: Any = None, loss_indices: Tensor | None = None) -> Tensor:
        """x (N, C) → (N, C); rows and state as in `Mixer.forward`.

        With `loss_indices`, numbers of characters, only those come out: (loss_indices, C).
        """
        mixed = self.mixer(layer_norm(x, self.norm_mixer.weight, self.norm_mixer.bias), rows, state)  # (N, C)
        return self.add(x, mixed, loss_indices)

    def add(self, x: Tensor, mixed: Tensor, loss_indices: Tensor | None = None) -> Tensor:
        """What follows the mixer: x + mixed, and the MLP's part. x, mixed: (N, C); `loss_indices` go on, or all."""
        if loss_indices is not None:  # no character looks at another any more, so the rest would be computed in vain
            x, mixed = x[loss_indices], mixed[loss_indices]
        share_dropped = self.share_dropped if self.training else 0.0
        x = add_dropout(x, mixed, None, share_dropped)
        h = layer_norm(x, self.norm_mlp.weight, self.norm_mlp.bias)
        h = linear_gelu(h, self.expand.weight, self.expand.bias)  # (N, 4C)
        return add_dropout(x, F.linear(h, self.contract.weight), self.contract.bias, share_dropped)
