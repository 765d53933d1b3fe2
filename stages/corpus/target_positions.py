"""At which outputs of the model the targets of pretraining stand."""

import numpy as np
import pandas as pd

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.objectives import Mixture


def target_positions(
    mixture: Mixture, documents: int, context: int, passes: int, generator: np.random.Generator
) -> pd.DataFrame:
    """Count the targets of each output, over so many draws of an example from each document.

    Columns: position of the output, from 0 to context-1; targets; masked_content, those among them that are masked
    characters, in answer to a ⁇. An example without a ⁇ has none.
    """
    counts = np.zeros((2, context), dtype=np.int64)
    for _ in range(passes):
        examples = mixture.draw(np.arange(documents), generator)
        loss_mask = examples.targets != PAD  # (B, T)
        for row, which in enumerate((loss_mask, loss_mask & _masked_content(examples))):
            counts[row, : which.shape[1]] += which.sum(axis=0)
    return pd.DataFrame({"position": np.arange(context), "targets": counts[0], "masked_content": counts[1]})


def _masked_content(examples: Examples) -> np.ndarray:
    """(B, T) whether an output answers the last ⁇ that is read; the ⁇ that closes the answer does not."""
    read = np.arange(examples.inputs.shape[1]) < examples.lengths[:, None]  # (B, T) outputs with a character after
    masks = (examples.inputs == MASK) & read
    masks_so_far = masks.cumsum(axis=1)
    is_last: np.ndarray = (masks_so_far > 0) & (masks_so_far == masks_so_far[:, -1:])
    return is_last & (examples.targets != MASK)
