"""Who depends on whom, by trying it out."""

import torch
from torch import Tensor

from stages.model.gpt import GPT
from tests.support.tiny import random_tokens

ROUNDING = 5e-5  # float32 logits of the order of one differ by so much at most; measured 1.3e-5


@torch.inference_mode()
def influence(model: GPT, length: int) -> Tensor:
    """(length, length) bool: whether changing input i (row) changes logits t (column)."""
    tokens = random_tokens(1, length).expand(length + 1, length).clone()
    changed = torch.arange(length)
    tokens[changed, changed] = (tokens[changed, changed] - 1) % 38 + 2  # another token, no PAD, no MASK
    assert (tokens[changed, changed] != tokens[-1]).all()
    logits = model(tokens)  # the last row is the unchanged one
    return (logits[:-1] - logits[-1]).abs().amax(dim=-1) > ROUNDING
