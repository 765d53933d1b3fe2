"""Greedy answers, one question and one character at a time."""

from collections.abc import Sequence

import torch

from stages.corpus.example import MASK
from stages.plain.model import PlainGPT


@torch.no_grad()
def answer(model: PlainGPT, prompt: Sequence[int], max_characters: int) -> tuple[list[int], float]:
    """Generate what follows the prompt, always the likeliest character, up to MASK: the answer and its probability.

    Each character takes a full forward pass over all before it. MASK counts in the probability. An answer also ends
    after `max_characters`, and where the context is full.
    """
    tokens, probability = list(prompt), 1.0
    device = next(model.parameters()).device
    for _ in range(max_characters):
        logits = model(torch.tensor([tokens], device=device))[0, -1]  # (vocabulary size,)
        likeliest, character = logits.double().softmax(dim=0).max(dim=0)
        probability *= float(likeliest)
        if character == MASK:
            break
        tokens.append(int(character))
        if len(tokens) > model.context:
            break
    return tokens[len(prompt) :], probability
