"""`perceiver_ar`: only the last positions think on, in plain form `PerceiverAR` of stages/plain/attention.py.

Hawthorne et al. 2022, "General-purpose, long-context autoregressive modeling with Perceiver AR",
https://arxiv.org/abs/2202.07765
"""

from stages.model.attention import CausalSelfAttention
from stages.settings.params import ModelSettings
from stages.settings.section import Count, Section


class PerceiverARSettings(Section):
    """Section variants.perceiver_ar."""

    latents: Count  # the last positions, which the blocks after the first work on


class PerceiverAR(CausalSelfAttention):
    """softmax(QKᵀ/√hs)V over the positions s ≤ t in the first block, over t-m < s ≤ t in each later one: the latents.

    In the paper a sequence has one set of latents, its last m positions, and only they have an output. Here every
    position has one: for output t the latents are the positions t-m < s ≤ t. It is the paper's model slid along the
    sequence, with one difference: latent s is shared by the outputs s…s+m-1, so it has itself seen latents down to
    s-m+1, not those of one output alone.

    State: in the first block keys and values, 2·C numbers a position; in each later one those of the last m-1
    positions, 2·C·(m-1) numbers whatever the length.
    """

    needs_positions = True

    def __init__(self, model: ModelSettings, settings: PerceiverARSettings, layer: int) -> None:
        super().__init__(model, settings, layer)
        self.window = None if layer == 0 else settings.latents
