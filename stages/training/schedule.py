"""The learning rate over time."""

import math

from stages.settings import Schedule


def learning_rate(tokens: float, peak: float, decay_tokens: float, schedule: Schedule) -> float:
    """The rate after `tokens` tokens: linear warm-up, then a cosine that never falls below the smallest rate.

    The cosine is not held after its minimum at `decay_tokens`: it rises again, as in the schedule that
    CS224N's assignment 5 took from minGPT. Tokens are counted over whole contexts, PAD included; decay_tokens
    exceeds the warm-up.
    """
    if tokens < schedule.warmup_tokens:
        return peak * tokens / schedule.warmup_tokens
    progress = (tokens - schedule.warmup_tokens) / (decay_tokens - schedule.warmup_tokens)
    return peak * max(schedule.min_lr_ratio, 0.5 * (1 + math.cos(math.pi * progress)))
