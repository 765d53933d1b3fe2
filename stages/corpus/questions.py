"""Questions and answers as sequences: `question ⁇ answer ⁇` (CS224N assignment 5); and questions to choose by."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.text import Ragged
from stages.system.errors import StudyError

SEED = 2021  # of the draw of those held out: every recipe holds out the same people


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


def hold_out(questions: dict[str, list[Question]], count: int, key: str) -> dict[str, list[Question]]:
    """Put `count` questions of train in the place of dev, so that choices never see dev; with 0 all stays as it is.

    People are drawn, so nobody asked about in train is asked about in dev; who is asked about twice is drawn only while
    both questions fit. key: where params.yaml has the count. Raises StudyError: train has no more questions than are to
    be held out.
    """
    if not count:
        return questions
    train = questions["train"]
    if count >= len(train):
        raise StudyError(f"params.yaml: {key}: was {count}; allowed: less than the {len(train)} training questions")
    rows = defaultdict[str, list[int]](list)  # by name
    for question in train:
        rows[question.name].append(question.row)
    names = sorted(rows)

    held: set[int] = set()
    for number in np.random.default_rng(SEED).permutation(len(names)):
        own = rows[names[number]]
        if len(held) + len(own) <= count:
            held.update(own)
    return questions | {
        "train": [question for question in train if question.row not in held],
        "dev": [question for question in train if question.row in held],
    }
