"""One residual block."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.cpu.fused import add_dropout, layer_norm, linear_gelu
from stages.model.mixer import Mixer
from stages.model.rows import Rows
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

    def forward(self, x: Tensor, rows: Rows, state: Any = None, wanted: Tensor | None = None) -> Tensor:
        """x (N, C) → (N, C); rows and state as in `Mixer.forward`.

        With `wanted`, numbers of characters, only those come out: (wanted, C).
        """
        mixed = self.mixer(layer_norm(x, self.norm_mixer.weight, self.norm_mixer.bias), rows, state)  # (N, C)
        return self.add(x, mixed, wanted)

    def add(self, x: Tensor, mixed: Tensor, wanted: Tensor | None = None) -> Tensor:
        """What follows the mixer: x + mixed, and the MLP's part. x, mixed: (N, C), of which `wanted` go on or all."""
        if wanted is not None:  # no character looks at another any more, so the rest would be computed in vain
            x, mixed = x[wanted], mixed[wanted]
        share_dropped = self.share_dropped if self.training else 0.0
        x = add_dropout(x, mixed, None, share_dropped)
        h = layer_norm(x, self.norm_mlp.weight, self.norm_mlp.bias)
        h = linear_gelu(h, self.expand.weight, self.expand.bias)  # (N, 4C)
        return add_dropout(x, F.linear(h, self.contract.weight), self.contract.bias, share_dropped)
