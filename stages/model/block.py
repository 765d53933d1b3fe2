"""One residual block."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.dropout import Dropout
from stages.model.mixer import Mixer
from stages.settings import Model


class Block(nn.Module):
    """x + mix(norm(x)), then x + mlp(norm(x)): pre-LayerNorm, GELU MLP of four times the width."""

    def __init__(self, model: Model, mixer: Mixer) -> None:
        super().__init__()
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer = mixer
        self.norm_mlp = nn.LayerNorm(model.width)
        self.expand = nn.Linear(model.width, 4 * model.width)
        self.contract = nn.Linear(4 * model.width, model.width)
        self.dropout = Dropout(model.dropout)

    def forward(self, x: Tensor, state: Any = None) -> Tensor:
        """x (B, T, C) → (B, T, C); a state continues it, as in `Mixer.forward`."""
        x = x + self.dropout(self.mixer(self.norm_mixer(x), state))
        return x + self.dropout(self.contract(F.gelu(self.expand(self.norm_mlp(x)))))
