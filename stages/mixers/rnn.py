"""`rnn`: the simple recurrent network, in plain form `RNN` of stages/plain/recurrent.py.

Elman 1990, "Finding Structure in Time", https://doi.org/10.1207/s15516709cog1402_1
"""

from torch import Tensor, nn

from stages.model.mixer import RecurrentMixer, recurrence
from stages.model.ops import wide
from stages.model.state import Hidden
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class RNN(RecurrentMixer):
    """a^t = tanh(U x^t + W a^{t−1} + s) from zero; a is the output, through no further projection.

    Step follows step, for W stands inside the tanh; U x is computed for all of them at once. W starts orthogonal, so
    that the past comes through at first (Saxe et al. 2014, arXiv 1312.6120).

    State: a, C numbers whatever the length.
    """

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.u = nn.Linear(model.width, model.width)  # U and s
        self.w = nn.Linear(model.width, model.width, bias=False)  # W

    def initialise(self) -> None:
        nn.init.orthogonal_(self.w.weight)

    def mix(self, x: Tensor, state: Hidden | None = None) -> Tensor:
        state = state or self.empty_state(*x.shape[:2])
        a = recurrence(wide(self.u(x)), self.w.weight, state.h[:, 0])  # (B, T, C)
        state.h = a[:, -1:]
        return a.to(x.dtype)
