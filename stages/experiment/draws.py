"""Random numbers that follow from a seed, a purpose and a step alone."""

import numpy as np


def generator(seed: int, purpose: str, step: int) -> np.random.Generator:
    """Return the random numbers of one step.

    Each step has its own generator, made from the step's number: training goes on after a stop with
    the draws it would have had, without any generator's state to save.
    """
    return np.random.default_rng([seed, step, *purpose.encode()])
