"""Random numbers that depend on a seed, a purpose and a step alone."""

import numpy as np


def generator(seed: int, purpose: str, step: int) -> np.random.Generator:
    """Return the generator of one step.

    Each step has its own, made from the step's number, so that a training goes on after a stop with the draws that it
    would have had, and saves no generator's state.
    """
    return np.random.default_rng([seed, step, *purpose.encode()])
