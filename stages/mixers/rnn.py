"""`rnn`: the simple recurrent network.

Elman 1990, "Finding Structure in Time", https://doi.org/10.1207/s15516709cog1402_1
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from stages.model.mixer import NoSettings as Settings
from stages.model.mixer import SequenceMixer, State
from stages.model.recurrence import recurrence
from stages.settings import Model


@dataclass
class Hidden(State):
    """The network's last activation."""

    a: Tensor  # (B, C) float32


class Mixer(SequenceMixer):
    """a^t = tanh(U x^t + W a^{t−1} + s) from zero; a is the output, through no further projection.

    Step follows step, for W stands inside the tanh; U x is computed for all of them at once. W starts as small as every
    other matrix, so at first little of the past comes through. No positions: order is in the recurrence.

    State: a, C numbers whatever the length.
    """

    needs_positions: ClassVar[bool] = False

    def __init__(self, model: Model, settings: Settings, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.u = nn.Linear(model.width, model.width)  # U and s
        self.w = nn.Linear(model.width, model.width, bias=False)  # W

    def mix(self, x: Tensor, state: Hidden | None = None) -> Tensor:
        a = recurrence(self.u(x).float(), self.w.weight, None if state is None else state.a)  # (B, T, C)
        if state is not None:
            state.a = a[:, -1]
            state.lengths = state.lengths + x.shape[1]
        return a.to(x.dtype)

    def empty_state(self, batch: int, positions: int) -> Hidden:
        weight = self.w.weight
        lengths = torch.zeros(batch, dtype=torch.long, device=weight.device)
        return Hidden(lengths, torch.zeros(batch, weight.shape[0], device=weight.device))
