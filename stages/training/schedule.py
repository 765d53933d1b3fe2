"""The learning rate over time."""

import math


def learning_rate(tokens: float, peak: float, warmup_tokens: float, decay_tokens: float, min_lr_ratio: float) -> float:
    """The rate after `tokens` tokens: linear warm-up, then a cosine that never falls below the smallest rate.

    The cosine is not held after its minimum at `decay_tokens`: it rises again, as in the schedule that
    CS224N's assignment 5 took from minGPT. Tokens are counted over whole contexts, PAD included; decay_tokens
    exceeds the warm-up.
    """
    if tokens < warmup_tokens:
        return peak * tokens / warmup_tokens
    progress = (tokens - warmup_tokens) / (decay_tokens - warmup_tokens)
    return peak * max(min_lr_ratio, 0.5 * (1 + math.cos(math.pi * progress)))
