"""Questions and answers as sequences: `question ⁇ answer ⁇` (CS224N assignment 5)."""

import numpy as np

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.ragged import Ragged


def question_examples(questions: Ragged, answers: Ragged, rows: np.ndarray) -> Examples:
    """Examples of the given rows (B,); targets are the ⁇ that opens the answer, the answer and the ⁇ that closes it."""
    opened = [np.concatenate([questions[row], [MASK], answers[row], [MASK]]) for row in rows]
    lengths = np.array([len(sequence) for sequence in opened])
    sequences = np.full((len(rows), lengths.max()), PAD, dtype=np.int64)
    for sequence, padded in zip(opened, sequences, strict=True):
        padded[: len(sequence)] = sequence
    return Examples.of(sequences, lengths, first_target=questions.lengths[rows])


def prompt(question: np.ndarray) -> np.ndarray:
    """What the model is given to answer a question: `question ⁇`."""
    return np.append(question, MASK)
