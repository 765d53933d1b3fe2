"""Training examples: what the model reads and what it should say."""

from dataclasses import dataclass

import numpy as np

PAD, MASK = 0, 1  # the numbers of the vocabulary's first two characters


@dataclass(frozen=True)
class Examples:
    """A batch of sequences for next-character prediction, PAD at the end of each.

    The model reads inputs[:, t] and is to say targets[:, t], which is inputs[:, t + 1] or, where no
    loss is wanted, PAD.
    """

    inputs: np.ndarray  # (B, T) int64
    targets: np.ndarray  # (B, T) int64
    lengths: np.ndarray  # (B,) inputs before the PAD

    @classmethod
    def of(cls, sequences: np.ndarray, lengths: np.ndarray, first_target: np.ndarray | int = 1) -> "Examples":
        """Shift sequences (B, T + 1) by one.

        lengths: (B,) characters of each sequence; first_target: (B,) or one place in the sequence before
        which nothing is a target.
        """
        places = np.arange(sequences.shape[1])
        wanted = places >= np.broadcast_to(first_target, len(sequences))[:, None]
        targets = np.where(wanted, sequences, PAD)
        return cls(sequences[:, :-1], targets[:, 1:], lengths - 1)
