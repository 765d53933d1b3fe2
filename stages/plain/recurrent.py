"""How each recurrent variant mixes information over time: one position after another, in float32.

Shape letters: B batch, T time (characters), C width, nh heads, hs head size.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.settings import Model


class Recurrent(nn.Module, ABC):
    """A mixer that reads one position after another and remembers what it needs."""

    learned_positions: ClassVar[bool] = False

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__()
        self.width, self.heads, self.head_size = model.width, model.heads, model.width // model.heads

    @abstractmethod
    def start(self, x: Tensor) -> Any:
        """What is remembered before the first position of x (B, T, C)."""

    @abstractmethod
    def step(self, x: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """One position x (B, C) → its output (B, C), and what is remembered after it."""

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) → (B, T, C)."""
        memory = self.start(x)
        outputs = []
        for t in range(x.shape[1]):
            output, memory = self.step(x[:, t], memory)
            outputs.append(output)
        return torch.stack(outputs, dim=1)

    def by_head(self, x: Tensor) -> Tensor:
        """(B, C) → (B, nh, hs)."""
        return x.view(len(x), self.heads, self.head_size)


class Linear(Recurrent):
    """S += φ(k)vᵀ, z += φ(k), o = φ(q)S / φ(q)z, φ(x) = elu(x) + 1 (Katharopoulos et al. 2020, arXiv 2006.16236)."""

    learned_positions: ClassVar[bool] = True

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        S = x.new_zeros(len(x), self.heads, self.head_size, self.head_size)
        return S, S[..., 0]

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        S, z = memory
        query, key, value = (self.by_head(each) for each in self.query_key_value(x).chunk(3, dim=1))
        query, key = F.elu(query) + 1, F.elu(key) + 1
        S = S + key[..., :, None] * value[..., None, :]
        z = z + key
        numerator = (query[..., :, None] * S).sum(dim=2)  # (B, nh, hs)
        denominator = (query * z).sum(dim=2)  # (B, nh)
        return self.projection((numerator / denominator[..., None]).flatten(1)), (S, z)


class GatedDeltaNet(Recurrent):
    """S_t = α_t S_{t−1} (I − β_t k_t k_tᵀ) + β_t v_t k_tᵀ, o_t = S_t q_t (Yang et al. 2024, arXiv 2412.06464)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        width = model.width
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.convolution = nn.Conv1d(3 * width, 3 * width, 4, groups=3 * width, bias=False)
        self.a = nn.Linear(width, self.heads, bias=False)
        self.b = nn.Linear(width, self.heads, bias=False)
        self.A_log = nn.Parameter(torch.zeros(self.heads))
        self.dt_bias = nn.Parameter(torch.zeros(self.heads))
        self.gate = nn.Linear(width, width, bias=False)
        self.norm = nn.RMSNorm(self.head_size, eps=1e-5)
        self.projection = nn.Linear(width, width, bias=False)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        S = x.new_zeros(len(x), self.heads, self.head_size, self.head_size)
        return S, x.new_zeros(len(x), 3 * self.width, 4)

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        S, inputs = memory
        inputs = torch.cat([inputs[:, :, 1:], self.query_key_value(x)[:, :, None]], dim=2)  # (B, 3C, 4): the last four
        convolved = F.silu(self.convolution(inputs)[:, :, 0])  # (B, 3C)
        query, key, value = (self.by_head(each) for each in convolved.chunk(3, dim=1))
        query, key = (each / (each.square().sum(dim=2, keepdim=True) + 1e-6).sqrt() for each in (query, key))
        alpha = torch.exp(-torch.exp(self.A_log) * F.softplus(self.a(x) + self.dt_bias))  # (B, nh)
        S, read = delta_step(S, query, key, value, alpha, torch.sigmoid(self.b(x)))
        gated = self.norm(read) * F.silu(self.by_head(self.gate(x)))
        return self.projection(gated.flatten(1)), (S, inputs)


def delta_step(
    S: Tensor, query: Tensor, key: Tensor, value: Tensor, alpha: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    """One step of the gated delta rule: S after it (B, nh, hs, hs), values by keys, and what is read (B, nh, hs).

    query, key, value: (B, nh, hs); alpha, beta: (B, nh).
    """
    alpha, beta = alpha[..., None, None], beta[..., None, None]
    forgets = torch.eye(key.shape[-1], device=key.device) - beta * key[..., :, None] * key[..., None, :]
    S = alpha * S @ forgets + beta * value[..., :, None] * key[..., None, :]
    return S, (S @ query[..., None])[..., 0]


class MinGRU(Recurrent):
    """h_t = (1 − z_t) h_{t−1} + z_t h̃_t, z = σ(W_z x), h̃ = g(W_h x) (Feng et al. 2024, arXiv 2410.01201)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.gate = nn.Linear(model.width, model.width)
        self.candidate = nn.Linear(model.width, model.width)
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
    """a^t = tanh(U x^t + W a^{t−1} + s)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.u = nn.Linear(model.width, model.width)
        self.w = nn.Linear(model.width, model.width, bias=False)

    def start(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x[:, 0])

    def step(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        a = torch.tanh(self.u(x) + self.w(memory))
        return a, a


class WRNN(Recurrent):
    """a^t as in RNN; b^t = tanh(V a^t + R a^{t−1} + T b^{t−1} + s₂)."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        super().__init__(model, settings)
        self.u = nn.Linear(model.width, model.width)
        self.w = nn.Linear(model.width, model.width, bias=False)
        self.v = nn.Linear(model.width, model.width)
        self.r = nn.Linear(model.width, model.width, bias=False)
        self.t = nn.Linear(model.width, model.width, bias=False)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])

    def step(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        before_a, before_b = memory
        a = torch.tanh(self.u(x) + self.w(before_a))
        b = torch.tanh(self.v(a) + self.r(before_a) + self.t(before_b))
        return b, (a, b)
