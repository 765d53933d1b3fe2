"""`rope`: causal softmax attention with rotary positions, in plain form `Rope` of stages/plain/attention.py.

Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", https://arxiv.org/abs/2104.09864
"""

from typing import Annotated

from pydantic import Field

from stages.model.attention import RotaryAttention
from stages.settings.section import Section


class RopeSettings(Section):
    """Section variants.rope."""

    theta: Annotated[float, Field(gt=1, le=1e12)]  # base of the wavelengths: pair i turns by theta^(-2i/hs) a position


class Rope(RotaryAttention):
    """softmax(QKᵀ/√hs)V with queries and keys rotated by their position: their pair i at t by t·theta^(-2i/hs).

    State: keys and values, 2·C numbers a position.
    """
