"""`gated_deltanet`: a memory that fades and is corrected, in plain form `GatedDeltaNet` of stages/plain/recurrent.py.

Yang, Kautz, Hatamizadeh 2024, "Gated Delta Networks: Improving Mamba2 with Delta Rule",
https://arxiv.org/abs/2412.06464
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.mixer import Mixer
from stages.model.ops import wide
from stages.model.state import State
from stages.settings.params import ModelSettings
from stages.settings.section import Section

KERNEL_SIZE = 4  # inputs that the short convolution sees, the last one its own; its first weights are torch's
CHUNK = 32  # positions solved for together: 16 to 64 take about the same time, all 128 three times as long
EPSILON = 1e-5  # the output's RMSNorm adds it
LENGTH_EPSILON = 1e-6  # added to the squared length of queries and keys
RATES = (0.0, 16.0)  # first weights, as in flash-linear-attention: exp(A_log) is drawn uniformly between these
STEPS = (1e-3, 1e-1)  # and softplus(dt_bias) between these, its logarithm uniformly


@dataclass
class Memory(State):
    """The memory, and the inputs of the convolution that later positions still see."""

    memory: Tensor  # (B, nh, hs, hs) float32: Sᵀ, keys by values
    inputs: Tensor  # (B, KERNEL_SIZE - 1, 3C)


class GatedDeltaNet(Mixer):
    """A matrix S a head, read with the query: o_t = S_t q_t. It fades by α and is set right at the key by β::

        S_t = α_t S_{t−1} (I − β_t k_t k_tᵀ) + β_t v_t k_tᵀ
        α_t = exp(−exp(A_log) softplus(a_t + dt_bias)),  β_t = σ(b_t)

    Queries, keys and values come through a causal convolution of each channel and SiLU; queries and keys have
    length one. What is read is normalised within each head and gated by SiLU(g). a, b and g are linear in x. No
    positions: order is in the convolution and in the memory.

    State: S and the convolution's last three inputs, C·(hs + 9) numbers whatever the length.
    """

    needs_positions = False

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        width = model.width
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.convolution = nn.Conv1d(3 * width, 3 * width, KERNEL_SIZE, groups=3 * width, bias=False)
        self.a = nn.Linear(width, self.heads, bias=False)
        self.b = nn.Linear(width, self.heads, bias=False)
        self.A_log = nn.Parameter(torch.empty(self.heads).uniform_(*RATES).log())
        step = torch.empty(self.heads).uniform_(*map(math.log, STEPS)).exp()
        self.dt_bias = nn.Parameter(step.expm1().log())  # softplus⁻¹(step)
        self.gate = nn.Linear(width, width, bias=False)
        self.norm = nn.RMSNorm(self.head_size, eps=EPSILON)
        self.projection = nn.Linear(width, width, bias=False)

    def mix(self, x: Tensor, state: Memory | None = None) -> Tensor:
        B, T, _ = x.shape
        before = self.empty_state(B, T) if state is None else state
        inputs = torch.cat([before.inputs, self.query_key_value(x)], dim=1)  # (B, KERNEL_SIZE - 1 + T, 3C)
        heads = self._convolve(inputs).view(B, T, 3, self.heads, self.head_size)
        q, k, v = heads.permute(2, 0, 3, 1, 4).contiguous()  # (B, nh, T, hs) each
        step = F.softplus(wide(self.a(x)) + wide(self.dt_bias))  # (B, T, nh)
        fading = (-wide(self.A_log).exp() * step).transpose(1, 2)  # (B, nh, T): log α
        beta = wide(self.b(x)).sigmoid().transpose(1, 2)  # (B, nh, T)

        memory = before.memory
        parts = []
        chunks = (sequence.split(CHUNK, dim=2) for sequence in (direction(q), direction(k), v, fading, beta))
        for q, k, v, fading, beta in zip(*chunks, strict=True):
            part, memory = gated_delta_rule(q, k, v, fading, beta, memory)
            parts.append(part)
        if state is not None:
            state.memory, state.inputs = memory, inputs[:, T:]

        read = torch.cat(parts, dim=2).transpose(1, 2)  # (B, T, nh, hs)
        read = F.rms_norm(read, (self.head_size,), wide(self.norm.weight), EPSILON).flatten(2)  # (B, T, C)
        return self.projection((read * F.silu(wide(self.gate(x)))).to(x.dtype))

    def _convolve(self, inputs: Tensor) -> Tensor:
        """SiLU of each channel's convolution. inputs: (B, KERNEL_SIZE - 1 + T, 3C) → (B, T, 3C) float32.

        The input is an image of height one, whose channels may stand last in memory: conv1d would move them first
        and back, which takes three times as long on a CPU.
        """
        image = wide(inputs)[:, None].permute(0, 3, 1, 2)  # (B, 3C, 1, KERNEL_SIZE - 1 + T)
        weight = wide(self.convolution.weight)[:, :, None]  # (3C, 1, 1, KERNEL_SIZE)
        return F.silu(F.conv2d(image, weight, groups=len(weight)).permute(0, 2, 3, 1)[:, 0])

    def empty_state(self, batch: int, positions: int) -> Memory:
        weight = self.query_key_value.weight
        memory = torch.zeros(batch, self.heads, self.head_size, self.head_size, device=weight.device)
        return Memory(memory, weight.new_zeros(batch, KERNEL_SIZE - 1, weight.shape[0]))


def direction(x: Tensor) -> Tensor:
    """x (…, hs) at length one."""
    return x * (x.square().sum(dim=-1, keepdim=True) + LENGTH_EPSILON).rsqrt()


def gated_delta_rule(
    q: Tensor, k: Tensor, v: Tensor, fading: Tensor, beta: Tensor, memory: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute what each position reads, and the memory after the last: all positions at once, in float32.

    q, k, v: (B, nh, T, hs); fading: (B, nh, T), the logarithms of α; beta: (B, nh, T); memory: (B, nh, hs, hs), keys by
    values. With M = Sᵀ the recurrence is M_t = α_t M_{t−1} + k_t u_tᵀ, where u_t = β_t (v_t − α_t M_{t−1}ᵀ k_t) is what
    position t writes. Unrolled, with γ_ts the product of α from s + 1 to t and M_0 the memory given::

        u_t + Σ_{s<t} β_t γ_ts (k_t·k_s) u_s = β_t (v_t − γ_t0 M_0ᵀ k_t)

    which is one triangular system for all u (the paper's WY form). Only ratios γ ≤ 1 are made, as exponentials of
    differences, so that nothing overflows; the sums are float64, for one strong α makes them large beside
    the differences that follow.
    """
    T = q.shape[2]
    total = fading.double().cumsum(dim=-1)  # (B, nh, T): log γ_t0
    later = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
    log_kept = (total[..., :, None] - total[..., None, :]).to(fading.dtype)  # (B, nh, T, T)
    kept = log_kept.masked_fill(later, float("-inf")).exp()  # (B, nh, T, T): γ_ts
    kept_of_memory = total.to(fading.dtype).exp()[..., None]  # (B, nh, T, 1)
    weighted = beta[..., None] * k  # (B, nh, T, hs)
    overlap = kept * (weighted @ k.transpose(-2, -1))  # (B, nh, T, T)
    missing = beta[..., None] * v - kept_of_memory * (weighted @ memory)  # (B, nh, T, hs)
    written = torch.linalg.solve_triangular(overlap, missing, upper=False, unitriangular=True)  # (B, nh, T, hs): u
    read = (kept * (q @ k.transpose(-2, -1))) @ written + kept_of_memory * (q @ memory)  # (B, nh, T, hs)
    memory = kept_of_memory[..., -1:, :] * memory + (kept[..., -1, :, None] * k).transpose(-2, -1) @ written
    return read, memory
