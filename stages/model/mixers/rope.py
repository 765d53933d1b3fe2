"""`rope`: causal softmax attention with rotary positions (Su et al. 2021, arXiv 2104.09864)."""

from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from stages.model.attention import CausalSelfAttention
from stages.model.fused import rotate
from stages.settings import Model, Section


class Settings(Section):
    """Section variants.rope."""

    theta: Annotated[float, Field(gt=1)]  # base of the wavelengths: pair i turns by theta^(-2i/hs) a position


class Mixer(CausalSelfAttention):
    """Queries and keys are rotated by their position, so their product depends on the distance only.

    Channel i < hs/2 of a head is paired with channel i + hs/2; pairing neighbours instead would be the
    same model with its channels in another order.
    """

    needs_positions: ClassVar[bool] = False

    def __init__(self, model: Model, settings: Settings, layer: int) -> None:
        super().__init__(model, settings, layer)
        if self.head_size % 2:
            raise ValueError(f"rotary positions need an even head size, width / heads is {self.head_size}")
        pair = torch.arange(self.head_size // 2)
        turn = settings.theta ** (-2 * pair / self.head_size)  # (hs/2,) radians a position
        angle = torch.arange(model.context)[:, None] * turn  # (context, hs/2)
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)

    def place(self, x: Tensor, positions: Tensor | None) -> Tensor:
        cosine, sine = self.get_buffer("cosine"), self.get_buffer("sine")
        if positions is None:
            T = x.shape[-2]
            return rotate(x, cosine[:T], sine[:T])
        return rotate(x, cosine[positions][:, None], sine[positions][:, None])  # tables (B, 1, T, hs/2)
