"""Questions and answers as sequences: `question ⁇ answer ⁇` (CS224N assignment 5)."""

from dataclasses import dataclass

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.ragged import Ragged


@dataclass(frozen=True)
class Question:
    """One question of a file: where it stands, what it asks, about whom, and the answer if there is one."""

    row: int  # 1-based line in its file, empty lines counted
    question: str
    name: str  # the heading of the page that tells the answer
    place: str | None  # the answer; None in a file without


def question_examples(questions: Ragged, answers: Ragged, rows: np.ndarray) -> Examples:
    """Examples of the given rows (B,); targets are the ⁇ that opens the answer, the answer and the ⁇ that closes it."""
    sequences = [np.concatenate([questions[row], [MASK], answers[row], [MASK]]) for row in rows]
    return Examples.of_rows(sequences, questions.lengths[rows])


def prompt(question: np.ndarray) -> np.ndarray:
    """Make what the model is given to answer a question: `question ⁇`."""
    return np.append(question, MASK)
