"""`window`: softmax attention over the last few positions, in plain form `Window` of stages/plain/attention.py.

Beltagy et al. 2020, "Longformer: The Long-Document Transformer", https://arxiv.org/abs/2004.05150
"""

from typing import Annotated

from pydantic import Field

from stages.model.attention import RotaryAttention
from stages.settings.params import ModelSettings
from stages.settings.section import Count, Section


class WindowSettings(Section):
    """Section variants.window."""

    width: Count  # positions a query sees, its own included
    theta: Annotated[float, Field(gt=1, le=1e12)]  # base of the rotation's wavelengths, as in rope


class Window(RotaryAttention):
    """softmax(QKᵀ/√hs)V over the positions t-w < s ≤ t, with rotary positions.

    A block looks w-1 positions back, so the logits know of layers · (w-1) positions before their own.
    State: the last w-1 keys and values, at most 2·C·(w-1) numbers however long the text.
    """

    def __init__(self, model: ModelSettings, settings: WindowSettings, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.window = settings.width
