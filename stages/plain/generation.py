"""Greedy answers, one question and one character at a time."""

import math
from collections.abc import Sequence

import torch

from stages.plain.model import PlainGPT

MASK = 1


@torch.no_grad()
def answer(model: PlainGPT, prompt: Sequence[int], max_characters: int) -> tuple[list[int], float]:
    """What the model says after the prompt before it says MASK, and the probability of that, the MASK included.

    Each character is a full forward pass of all before it. As in CS224N's parent_process code all `max_characters` are
    said, unless the context is full before, and then cut at the first MASK.
    """
    tokens, said, probabilities = list(prompt), [], []
    device = next(model.parameters()).device
    for _ in range(max_characters):
        logits = model(torch.tensor([tokens], device=device))[0, -1]  # (vocabulary,)
        probability, best = logits.double().softmax(dim=0).max(dim=0)
        said.append(int(best))
        probabilities.append(float(probability))
        if len(tokens) == model.context:
            break
        tokens.append(int(best))
    if MASK in said:
        end = said.index(MASK)
        return said[:end], math.prod(probabilities[: end + 1])
    return said, math.prod(probabilities)
