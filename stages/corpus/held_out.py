"""Questions to choose by: some of the training questions stand in for dev, so that choices never see dev."""

from collections import defaultdict

import numpy as np

from stages.corpus.questions import Question
from stages.system.errors import StudyError

SEED = 2021  # of the draw: every recipe holds out the same people


def hold_out(questions: dict[str, list[Question]], count: int, key: str) -> dict[str, list[Question]]:
    """Put `count` questions of train in the place of dev; with 0 all stays as it is.

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
