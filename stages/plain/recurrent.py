"""How the recurrent variants mix information over time: one position after another.

Shape letters: B batch, T time (characters), C width, nh heads, hs head size.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.settings.params import ModelSettings


class Recurrent(nn.Module, ABC):
    """What these variants share: they read one position after another and remember what they need."""

    needs_positions: ClassVar[bool] = False  # whether the model adds a learned vector for each position

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__()
        self.width, self.heads, self.head_size = model.width, model.heads, model.width // model.heads

    @abstractmethod
    def start(self, x: Tensor) -> Any:
        """Make the memory before the first position of x (B, T, C)."""

    @abstractmethod
    def step(self, x: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Read one position x (B, C) → its output (B, C), and the memory after it."""

    def forward(self, x: Tensor) -> Tensor:
        """Mix x (B, T, C) → (B, T, C)."""
        memory = self.start(x)
        outputs = []
        for t in range(x.shape[1]):
            output, memory = self.step(x[:, t], memory)
            outputs.append(output)
        return torch.stack(outputs, dim=1)

    def split(self, x: Tensor) -> Tensor:
        """Cut channels into heads: x (B, n·hs) → (B, n, hs)."""
        return x.unflatten(1, (-1, self.head_size))


class Linear(Recurrent):
    """S += φ(k)vᵀ, z += φ(k), o = φ(q)S / φ(q)z, φ(x) = elu(x) + 1 (Katharopoulos et al. 2020, arXiv 2006.16236)."""

    needs_positions: ClassVar[bool] = True

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        S = x.new_zeros(len(x), self.heads, self.head_size, self.head_size)  # keys by values
        return S, S[..., 0]  # and z (B, nh, hs): zeros, too

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        S, z = memory
        q, k, v = self.split(self.query_key_value(x)).chunk(3, dim=1)  # (B, nh, hs) each
        q = F.elu(q) + 1
        k = F.elu(k) + 1

        S = S + k[..., :, None] * v[..., None, :]  # (B, nh, hs, hs)
        z = z + k  # (B, nh, hs)
        o = (q[..., None, :] @ S)[..., 0, :] / (q * z).sum(dim=2, keepdim=True)  # (B, nh, hs)
        return self.projection(o.flatten(1)), (S, z)


class GatedDeltaNet(Recurrent):
    """S_t = α_t S_{t−1} (I − β_t k_t k_tᵀ) + β_t v_t k_tᵀ, o_t = S_t q_t (Yang et al. 2024, arXiv 2412.06464).

    Queries, keys and values pass a convolution over the last four positions; what is read passes a norm and a gate.
    The convolution starts as torch's do, uniform in ±1/2. exp(A_log) starts uniform in 0…16, and the logarithm of
    softplus(dt_bias) uniform between those of 0.001 and 0.1, as in flash-linear-attention.
    """

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        width, heads = model.width, model.heads
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.convolution = nn.Conv1d(3 * width, 3 * width, 4, groups=3 * width, bias=False)
        self.a = nn.Linear(width, heads, bias=False)
        self.b = nn.Linear(width, heads, bias=False)
        self.A_log = nn.Parameter(torch.empty(heads).uniform_(0, 16).log())
        steps = torch.empty(heads).uniform_(math.log(0.001), math.log(0.1)).exp()
        self.dt_bias = nn.Parameter(steps.expm1().log())  # softplus of it gives the steps
        self.gate = nn.Linear(width, width, bias=False)
        self.norm = nn.RMSNorm(self.head_size, eps=1e-5)
        self.projection = nn.Linear(width, width, bias=False)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        S = x.new_zeros(len(x), self.heads, self.head_size, self.head_size)  # values by keys
        return S, x.new_zeros(len(x), 3 * self.width, 4)  # and the last four inputs of the convolution

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        S, inputs = memory
        inputs = torch.cat([inputs[:, :, 1:], self.query_key_value(x)[:, :, None]], dim=2)  # (B, 3C, 4): the last four
        convolved = F.silu(self.convolution(inputs)[:, :, 0])  # (B, 3C)
        q, k, v = self.split(convolved).chunk(3, dim=1)  # (B, nh, hs) each

        alpha = torch.exp(-torch.exp(self.A_log) * F.softplus(self.a(x) + self.dt_bias))  # (B, nh)
        beta = torch.sigmoid(self.b(x))  # (B, nh)
        S, o = delta_step(S, unit(q), unit(k), v, alpha, beta)

        gated = self.norm(o) * F.silu(self.split(self.gate(x)))  # (B, nh, hs)
        return self.projection(gated.flatten(1)), (S, inputs)


def unit(x: Tensor) -> Tensor:
    """Scale vectors x (B, nh, hs) to length one."""
    return x / (x.square().sum(dim=2, keepdim=True) + 1e-6).sqrt()


def delta_step(S: Tensor, q: Tensor, k: Tensor, v: Tensor, alpha: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """Take one step of the gated delta rule: S after it (B, nh, hs, hs), values by keys, and what is read (B, nh, hs).

    q, k, v: (B, nh, hs); alpha, beta: (B, nh).
    """
    alpha, beta = alpha[..., None, None], beta[..., None, None]
    kept = torch.eye(k.shape[-1], device=k.device) - beta * k[..., :, None] * k[..., None, :]  # I − β k kᵀ
    S = alpha * S @ kept + beta * v[..., :, None] * k[..., None, :]
    return S, (S @ q[..., None])[..., 0]


class MinGRU(Recurrent):
    """h_t = (1 − z_t) h_{t−1} + z_t h̃_t, z = σ(W_z x), h̃ = g(W_h x) (Feng et al. 2024, arXiv 2410.01201).

    g(x) = x + 0.5 from zero on and σ(x) below.
    """

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.gate = nn.Linear(model.width, model.width)  # W_z
        self.candidate = nn.Linear(model.width, model.width)  # W_h
        self.projection = nn.Linear(model.width, model.width)

    def start(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x[:, 0])

    def step(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        z = torch.sigmoid(self.gate(x))
        candidate = self.candidate(x)
        candidate = torch.where(candidate >= 0, candidate + 0.5, torch.sigmoid(candidate))
        h = (1 - z) * memory + z * candidate
        return self.projection(h), h


class RNN(Recurrent):
    """a^t = tanh(U x^t + W a^{t−1} + s) (Elman 1990); W starts orthogonal."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.u = nn.Linear(model.width, model.width)  # U and s
        self.w = nn.Linear(model.width, model.width, bias=False)  # W

    def initialise(self) -> None:
        """Draw what starts orthogonal."""
        nn.init.orthogonal_(self.w.weight)

    def start(self, x: Tensor) -> Any:
        return torch.zeros_like(x[:, 0])

    def step(self, x: Tensor, memory: Any) -> tuple[Tensor, Any]:
        a = torch.tanh(self.u(x) + self.w(memory))
        return a, a


class WRNN(RNN):
    """a^t as in RNN; b^t = tanh(V a^t + R a^{t−1} + T b^{t−1} + s₂); T starts orthogonal, too."""

    def __init__(self, model: ModelSettings, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.v = nn.Linear(model.width, model.width)  # V and s₂
        self.r = nn.Linear(model.width, model.width, bias=False)  # R
        self.t = nn.Linear(model.width, model.width, bias=False)  # T

    def initialise(self) -> None:
        super().initialise()
        nn.init.orthogonal_(self.t.weight)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        before_a, before_b = memory
        a = torch.tanh(self.u(x) + self.w(before_a))
        b = torch.tanh(self.v(a) + self.r(before_a) + self.t(before_b))
        return b, (a, b)
