"""Training examples: what the model reads and what it should say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PAD, MASK = 0, 1  # the numbers of the vocabulary's first two characters


@dataclass(frozen=True)
class Examples:
    """A batch of sequences for next-character prediction, PAD at the end of each.

    The model reads inputs[:, t] and is to say targets[:, t]: inputs[:, t + 1], or PAD where no loss is wanted.
    """

    inputs: np.ndarray  # (B, T) int64
    targets: np.ndarray  # (B, T) int64
    lengths: np.ndarray  # (B,) inputs that have a character after them

    @classmethod
    def of(cls, sequences: np.ndarray, lengths: np.ndarray, first_target: np.ndarray | int = 1) -> "Examples":
        """Shift sequences (B, T + 1) by one.

        lengths: (B,) characters of each sequence; first_target: (B,) or one position in the sequence, the first that
        is a target.
        """
        sequences = sequences.astype(np.int64, copy=False)  # a corpus has smaller numbers
        positions = np.arange(sequences.shape[1])
        loss_mask = positions >= np.broadcast_to(first_target, len(sequences))[:, None]
        return cls(sequences[:, :-1], np.where(loss_mask, sequences, PAD)[:, 1:], lengths - 1)

    @classmethod
    def of_rows(cls, rows: Sequence[np.ndarray], first_targets: Sequence[int] | np.ndarray) -> "Examples":
        """Examples of sequences of different lengths, each (length,), with the position of each one's first target."""
        lengths = np.array(list(map(len, rows)))
        sequences = np.full((len(rows), lengths.max()), PAD, np.int64)
        for row, padded in zip(rows, sequences, strict=True):
            padded[: len(row)] = row
        return cls.of(sequences, lengths, np.asarray(first_targets))

    @classmethod
    def of_cues(cls, cues: Sequence[tuple[np.ndarray, np.ndarray]], opening_is_target: bool) -> "Examples":
        """Examples `cue ⁇ phrase ⁇` of cues with their phrases, each (length,).

        Targets are the phrase and the ⁇ that closes it, and the one that opens it where that is wanted.
        """
        return cls.of_rows(
            [answer_sequence(cue, phrase) for cue, phrase in cues],
            [len(cue) + (not opening_is_target) for cue, _ in cues],
        )

    @classmethod
    def join(cls, batches: Sequence["Examples"]) -> "Examples":
        """Join the rows of several batches in one."""
        width = max(batch.inputs.shape[1] for batch in batches)
        inputs = np.concatenate([columns(batch.inputs, width) for batch in batches])
        targets = np.concatenate([columns(batch.targets, width) for batch in batches])
        return cls(inputs, targets, np.concatenate([batch.lengths for batch in batches]))


def answer_sequence(cue: np.ndarray, phrase: np.ndarray) -> np.ndarray:
    """Return `cue ⁇ phrase ⁇`, (T,)."""
    return np.concatenate([cue, [MASK], phrase, [MASK]])


def columns(matrix: np.ndarray, width: int) -> np.ndarray:
    """Return the first `width` columns of (B, T), with PAD where the matrix is narrower."""
    missing = max(0, width - matrix.shape[1])
    return np.pad(matrix[:, :width], ((0, 0), (0, missing)), constant_values=PAD)
