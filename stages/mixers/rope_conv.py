"""`rope_conv`: a short convolution of each channel, then rope.

Allen-Zhu 2025, "Physics of Language Models: Part 4.1, Architecture Design and the Magic of Canon Layers", puts such
convolutions into transformers, https://arxiv.org/abs/2512.17351
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.mixers.rope import RopeSettings
from stages.model.attention import RotaryAttention
from stages.model.cache import KeyValueCache
from stages.model.packing import Packing
from stages.settings import Model

WIDTH = 4  # inputs that the convolution sees, the last one its own


class RopeConvSettings(RopeSettings):
    """Settings of rope."""


@dataclass
class RopeConvState(KeyValueCache):
    """Keys and values of the positions seen, and the last inputs."""

    inputs: Tensor  # (B, WIDTH - 1, C)

    @property
    def vectors(self) -> list[Tensor]:
        return [self.keys, self.values]


class RopeConv(RotaryAttention):
    """softmax(QKᵀ/√hs)V of z = x + convolution(x), with queries and keys rotated by their position as in rope.

    The convolution of each channel sees the last four positions.

    State: keys, values and the last three inputs, 2·C numbers a position and 3·C.
    """

    def __init__(self, model: Model, settings: Any, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.convolution = nn.Conv1d(model.width, model.width, WIDTH, groups=model.width, bias=False)

    def mix(self, x: Tensor, state: Any = None) -> Tensor:
        before = x.new_zeros(len(x), WIDTH - 1, x.shape[2]) if state is None else state.inputs
        inputs = torch.cat([before, x], dim=1)  # (B, WIDTH - 1 + T, C)
        if state is not None:
            state.inputs = inputs[:, x.shape[1] :]
        convolved = F.conv1d(inputs.transpose(1, 2), self.convolution.weight, groups=x.shape[2]).transpose(1, 2)
        return super().mix(x + convolved, state)

    def packed(self, x: Tensor, packing: Packing) -> None:
        return None

    def empty_state(self, batch: int, positions: int) -> RopeConvState:
        cache = super().empty_state(batch, positions)
        inputs = cache.keys.new_zeros(batch, WIDTH - 1, self.heads * self.head_size)
        return RopeConvState(cache.lengths, cache.keys, cache.values, inputs)
