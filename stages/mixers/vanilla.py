"""`vanilla`: causal softmax attention with learned positions, in plain form `Vanilla` of stages/plain/attention.py.

Vaswani et al. 2017, "Attention Is All You Need", https://arxiv.org/abs/1706.03762
"""

from stages.model.attention import CausalSelfAttention


class Vanilla(CausalSelfAttention):
    """softmax(QKᵀ/√hs)V; the order of characters is known from learned positions alone.

    State: keys and values, 2·C numbers a position.
    """

    needs_positions = True
