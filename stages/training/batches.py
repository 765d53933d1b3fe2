"""The order of the data, and batches without padding waste."""

import numpy as np

from stages.corpus.example import Examples, columns

LENGTH_STEP = 8  # lengths of parts are multiples of this: fewer shapes to prepare kernels for


def generator(seed: int, purpose: str, step: int) -> np.random.Generator:
    """The random numbers of one step.

    Each step has its own generator, made from the step's number: training goes on after a stop with
    the draws it would have had, without any generator's state to save.
    """
    return np.random.default_rng([seed, step, *purpose.encode()])


def rows_of_step(rows: int, batch_size: int, seed: int, step: int) -> np.ndarray:
    """Which rows step `step` trains on: (≤ batch_size,); each epoch is a new shuffle, its last batch may be short."""
    epoch, batch = divmod(step, steps_per_epoch(rows, batch_size))
    order = generator(seed, "order", epoch).permutation(rows)
    return order[batch * batch_size : (batch + 1) * batch_size]


def steps_per_epoch(rows: int, batch_size: int) -> int:
    """Batches that hold every row once."""
    return -(-rows // batch_size)


def split_by_length(examples: Examples, parts: int) -> list[Examples]:
    """Sort a batch by length and cut it into up to `parts` parts, each just wide enough for its longest row.

    The rows together are the batch; only PAD columns are gone, and PAD carries no loss.
    """
    order = np.argsort(examples.lengths, kind="stable")
    result = []
    for rows in np.array_split(order, min(parts, len(order))):
        longest = int(examples.lengths[rows].max())
        width = -(-longest // LENGTH_STEP) * LENGTH_STEP
        inputs, targets = (columns(matrix[rows], width) for matrix in (examples.inputs, examples.targets))
        result.append(Examples(inputs, targets, examples.lengths[rows]))
    return result
