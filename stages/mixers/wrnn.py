"""`wrnn`: a recurrent network of two coupled layers, the second fed by the first at two times.

Its plain form is `WRNN` of stages/plain/recurrent.py. It has no published source but a student's report of an advanced
AI course, with code in a public repository (npukujui11/AI_2023, RNN_assignment). There f₁ = f₂ = sigmoid, here tanh.
The report's softmax output, of Q and s₃, is the model's own head here: the head is Q, and s₃ is left out, for the head
has no bias.
"""

import torch
from torch import Tensor, nn

from stages.model.mixer import RecurrentMixer, recurrence
from stages.model.ops import wide
from stages.model.state import Hidden
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class WRNN(RecurrentMixer):
    """a^t = tanh(U x^t + W a^{t−1} + s₁); b^t = tanh(V a^t + R a^{t−1} + T b^{t−1} + s₂), from zero; b is the output.

    The first layer runs to the end before the second starts, so that V a and R a are computed for all steps at once.
    W and T start orthogonal, as in `rnn`.

    State: a and b, 2·C numbers whatever the length.
    """

    layers = 2

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.u = nn.Linear(model.width, model.width)  # U and s₁
        self.w = nn.Linear(model.width, model.width, bias=False)  # W
        self.v = nn.Linear(model.width, model.width)  # V and s₂
        self.r = nn.Linear(model.width, model.width, bias=False)  # R
        self.t = nn.Linear(model.width, model.width, bias=False)  # T

    def initialise(self) -> None:
        for layer in (self.w, self.t):
            nn.init.orthogonal_(layer.weight)

    def mix(self, x: Tensor, state: Hidden | None = None) -> Tensor:
        state = state or self.empty_state(*x.shape[:2])
        first_a, first_b = state.h.unbind(1)  # (B, C) each
        a = recurrence(wide(self.u(x)), self.w.weight, first_a)  # (B, T, C)
        before = torch.cat([first_a[:, None], a[:, :-1]], dim=1)  # (B, T, C): a^{t−1}
        drive = wide(self.v(a.to(x.dtype))) + wide(self.r(before.to(x.dtype)))  # (B, T, C)
        b = recurrence(drive, self.t.weight, first_b)  # (B, T, C)
        state.h = torch.stack([a[:, -1], b[:, -1]], dim=1)
        return b.to(x.dtype)
