"""At which outputs of the model the targets of pretraining stand."""

import numpy as np
import pandas as pd

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.objectives import Mixture


def target_places(
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
    """(B, T) whether an output is a masked character.

    Of a cloze these are all targets but the ⁇. Where every character is a target, as in span corruption, they
    answer the last ⁇ that is read.
    """
    read = np.arange(examples.inputs.shape[1]) < examples.lengths[:, None]  # (B, T) outputs with a character after
    is_cloze = (read & (examples.targets == PAD)).any(axis=1, keepdims=True)  # (B, 1)
    return (is_cloze | _from_last((examples.inputs == MASK) & read)) & (examples.targets != MASK)


def _from_last(masks: np.ndarray) -> np.ndarray:
    """(B, T) whether a place is that of a row's last ⁇, or after it; masks: (B, T) where each ⁇ stands."""
    from_last: np.ndarray = np.logical_or.accumulate(masks, axis=1) & ~_later(masks)
    return from_last


def _later(masks: np.ndarray) -> np.ndarray:
    """(B, T) whether a ⁇ stands after a place."""
    from_here = np.logical_or.accumulate(masks[:, ::-1], axis=1)[:, ::-1]
    return np.pad(from_here[:, 1:], ((0, 0), (0, 1)))
