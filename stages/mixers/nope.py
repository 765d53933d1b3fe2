"""`nope`: causal softmax attention without positions, in plain form `NoPositions` of stages/plain/attention.py.

Kazemnejad et al. 2023, "The Impact of Positional Encoding on Length Generalization in Transformers",
https://arxiv.org/abs/2305.19466
"""

from stages.model.attention import CausalSelfAttention


class NoPositions(CausalSelfAttention):
    """softmax(QKᵀ/√hs)V over the positions up to one's own; nothing says where a character stands.

    Only the mask tells positions apart: a query sees as many characters as stand before it.
    State: keys and values, 2·C numbers a position.
    """

    needs_positions = False
