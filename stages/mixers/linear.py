"""`linear`: linear attention, in plain form `Linear` of stages/plain/recurrent.py.

Katharopoulos et al. 2020, "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
https://arxiv.org/abs/2006.16236
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from stages.model.mixer import Mixer, merge_heads, split_heads
from stages.model.ops import wide
from stages.model.state import State
from stages.settings.params import ModelSettings
from stages.settings.section import Section

CHUNK = 128  # positions whose pairs are all multiplied with each other; what is before them comes as sums


@dataclass
class Sums(State):
    """All that linear attention keeps of the past, whatever its length."""

    sums: Tensor  # (B, nh, hs, hs + 1) float32 at least: S, the sum of φ(k)vᵀ, and last z, the sum of φ(k)


class Linear(Mixer):
    """Attention whose weights are φ(q)·φ(k) over their sum, φ(x) = elu(x) + 1, instead of a softmax.

    The sums over the past can then be carried along: S += φ(k)vᵀ, z += φ(k), o = φ(q)S / φ(q)z. They are carried from
    chunk to chunk, in float32; within a chunk all weights at once, (c, c), are faster than one position after another.
    So T positions cost T·(c + hs)·C, and one chunk is attention as it is written above. Dropout of attention weights
    is left out: the sums hold no single weight that could be dropped.

    State: S and z, C·(hs + 1) numbers whatever the length.
    """

    needs_positions = True

    def __init__(self, model: ModelSettings, settings: Section, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.query_key_value = nn.Linear(model.width, 3 * model.width)
        self.projection = nn.Linear(model.width, model.width)

    def mix(self, x: Tensor, state: Sums | None = None) -> Tensor:
        T = x.shape[1]
        q, k, v = split_heads(self.query_key_value(x), 3 * self.heads).chunk(3, dim=1)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()  # (B, nh, T, hs) each
        past = None if state is None else state.sums
        if past is not None or T > CHUNK:  # sums are carried on
            q, k, v = wide(q), wide(k), wide(v)
        q, k = feature(q), feature(k)
        v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)  # (B, nh, T, hs + 1): the last sums up the weights

        parts: list[Tensor] = []
        chunks = zip(q.split(CHUNK, dim=2), k.split(CHUNK, dim=2), v.split(CHUNK, dim=2), strict=True)
        for number, (q, k, v) in enumerate(chunks, 1):
            part = (q @ k.transpose(-2, -1)).tril() @ v  # (B, nh, c, hs + 1)
            parts.append(part if past is None else part + q @ past)
            if state is not None or number * CHUNK < T:  # more positions follow, now or later
                added = k.transpose(-2, -1) @ v  # (B, nh, hs, hs + 1)
                past = added if past is None else past + added
        if state is not None and past is not None:
            state.sums = past

        sums = torch.cat(parts, dim=2)  # (B, nh, T, hs + 1)
        mixed = sums[..., :-1] / sums[..., -1:]  # (B, nh, T, hs)
        return self.projection(merge_heads(mixed.to(x.dtype)))

    def empty_state(self, batch: int, positions: int) -> Sums:
        return Sums(wide(self.projection.weight.new_zeros(batch, self.heads, self.head_size, self.head_size + 1)))


def feature(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1, written so that far below zero nothing is lost beside the 1: it is 0 from -104 on alone."""
    return x.clamp(max=0).exp() + x.relu()
