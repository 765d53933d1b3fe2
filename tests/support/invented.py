"""Lengths of invented documents: for what depends on lengths, and on nothing else."""

import numpy as np

DOCUMENTS = 2937


def lengths(rows: int, generator: np.random.Generator) -> np.ndarray:
    """Lengths (rows,) in characters, about those of the handout's lines: log-normal, 141 on average, a third < 112."""
    drawn = generator.lognormal(np.log(132), 0.37, size=rows)
    return np.clip(drawn.round(), 38, 516).astype(np.int64)
