"""What recurrent networks share."""

from typing import ClassVar

import torch
from torch import Tensor

from stages.model.mixer import Mixer
from stages.model.ops import wide
from stages.model.state import Hidden


class RecurrentMixer(Mixer):
    """A mixer that remembers activations only. No positions: order is in the recurrence."""

    needs_positions = False
    layers: ClassVar[int] = 1

    def empty_state(self, batch: int, positions: int) -> Hidden:
        device = next(self.parameters()).device
        lengths = torch.zeros(batch, dtype=torch.long, device=device)
        return Hidden(lengths, torch.zeros(batch, self.layers, self.heads * self.head_size, device=device))


def recurrence(drive: Tensor, weight: Tensor, h: Tensor) -> Tensor:
    """All h^t = tanh(drive^t + W h^{t−1}), one after another: (B, T, C).

    drive: (B, T, C) float32; weight: W (C, C) in any precision, h and the products are float32; h: (B, C), before the
    first drive.
    """
    weight = wide(weight)
    hidden = []
    for driven in drive.unbind(1):  # (B, C)
        h = torch.tanh(torch.addmm(driven, h, weight.t()))
        hidden.append(h)
    return torch.stack(hidden, dim=1)
