"""`min_gru`: the minimal gated recurrent unit, in plain form `MinGRU` of stages/plain/recurrent.py.

Feng et al. 2024, "Were RNNs All We Needed?", https://arxiv.org/abs/2410.01201
"""

from typing import Any

import torch
from torch import Tensor, nn

from stages.model.mixer import RecurrentMixer
from stages.model.ops import wide
from stages.model.state import Hidden
from stages.settings.params import ModelSettings
from stages.settings.section import Section


class MinGRU(RecurrentMixer):
    """h_t = (1 − z_t) h_{t−1} + z_t h̃_t from zero, z = σ(W_z x), h̃ = g(W_h x), then an output projection.

    g(x) = x + 0.5 above zero and σ(x) below keeps all of h positive. Neither gate looks at h, so the recurrence is
    linear in h and all its steps are computed together (`scan`).

    State: h, C numbers whatever the length.
    """

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.gate = nn.Linear(model.width, model.width)  # W_z
        self.candidate = nn.Linear(model.width, model.width)  # W_h
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: Hidden | None = None) -> Tensor:
        gate = wide(self.gate(x))  # (B, T, C)
        keep = (-gate).sigmoid()  # 1 − z, exact where z is all but 1
        write = gate.sigmoid() * positive(wide(self.candidate(x)))  # (B, T, C)
        if state is not None:
            write = torch.cat([write[:, :1] + keep[:, :1] * state.h, write[:, 1:]], dim=1)
        h: Tensor = scan(keep, write)
        if state is not None:
            state.h = h[:, -1:]
        return self.projection(h.to(x.dtype))


def positive(x: Tensor) -> Tensor:
    """Compute the paper's g: x + 0.5 where x ≥ 0, σ(x) elsewhere."""
    return x.relu() + x.clamp(max=0).sigmoid()


def scan(keep: Tensor, write: Tensor) -> Tensor:
    """All h_t = keep_t h_{t−1} + write_t from zero, in parallel. keep, write and the result: (B, T, C) float32.

    The paper scans in log space, because its formula divides by products of `keep` that come down to zero. A
    tree of pairs (Blelloch 1990, "Prefix sums and their applications") divides by nothing: it stays exact whatever the
    gates, where sums of many logarithms lose digits, and on a CPU takes a sixth of the time of logcumsumexp.
    """
    h: Tensor = _Scan.apply(keep, write)
    return h


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keep: Tensor, write: Tensor) -> Tensor:
        h = _tree(keep, write)
        ctx.save_for_backward(keep, h)
        return h

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        keep, h = ctx.saved_tensors
        # worth_t = gradient_t + keep_{t+1} worth_{t+1}, a scan backwards in time
        worth = _tree(keep.roll(-1, dims=1).flip(1), gradient.flip(1)).flip(1)
        before = torch.cat([torch.zeros_like(h[:, :1]), h[:, :-1]], dim=1)  # h_{t−1}
        return worth * before, worth


def _tree(keep: Tensor, write: Tensor) -> Tensor:
    T = write.shape[1]
    if T == 1:
        return write
    pairs = T // 2
    earlier, later = slice(0, 2 * pairs, 2), slice(1, None, 2)  # two steps of a pair are one step of half as many
    second = _tree(keep[:, earlier] * keep[:, later], torch.addcmul(write[:, later], keep[:, later], write[:, earlier]))
    h = torch.empty_like(write)
    h[:, 0] = write[:, 0]
    h[:, 1::2] = second
    h[:, 2::2] = torch.addcmul(write[:, 2::2], keep[:, 2::2], second[:, : (T - 1) // 2])
    return h
