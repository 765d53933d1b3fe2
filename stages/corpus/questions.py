"""Questions: their forms, some to choose by, and as sequences `question ⁇ answer ⁇` (CS224N assignment 5)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from stages.corpus.example import MASK, Examples
from stages.corpus.ragged import Ragged
from stages.corpus.text import around, folded
from stages.system.errors import UserError

NAME = "NAME"  # stands for the name where a form is written
SEED = 2021  # of the draw of those held out: every recipe holds out the same people


@dataclass(frozen=True)
class Question:
    """One question of a file: where it stands, what it asks, about whom, and the answer if there is one."""

    row: int  # 1-based line in its file, empty lines counted
    question: str
    name: str  # the heading of the page that tells the answer
    place: str | None  # the answer; None in a file without


class Form(NamedTuple):
    """A form of questions: `before`, the name, `after`."""

    before: str
    after: str

    def about(self, name: str) -> str:
        """Ask in this form about a name."""
        return f"{self.before}{name}{self.after}"

    def name(self, question: str) -> str | None:
        """Whom a question asks about; None if it has another form."""
        for text in (question, folded(question)):
            name = text.removeprefix(self.before).removesuffix(self.after)
            if name and name == name.strip() and self.about(name) == text:
                return name
        return None


def form_of(question: str, name: str) -> Form | None:
    """Read off the form of a question; None if the name does not stand in it, or is all of it."""
    return Form(*sides) if name != question and (sides := around(question, name)) else None


def written_forms(asked: pd.DataFrame) -> list[str]:
    """Write the form of each question (columns question, name), with NAME for the name; empty where it has none.

    Spellings of one form count as one.
    """
    forms = map(form_of, map(folded, asked.question), map(folded, asked.name))
    return [form.about(NAME) if form else "" for form in forms]


def question_prompt(question: np.ndarray) -> np.ndarray:
    """Make what the model is given to answer a question: `question ⁇`."""
    return np.append(question, MASK)


def question_examples(
    questions: Ragged, answers: Ragged, rows: Sequence[int] | np.ndarray, opening_is_target: bool = True
) -> Examples:
    """Examples of the given rows (B,); targets are as `Examples.of_cues` has them."""
    return Examples.of_cues([(questions[row], answers[row]) for row in rows], opening_is_target)


def hold_out(questions: dict[str, list[Question]], count: int, key: str) -> dict[str, list[Question]]:
    """Put `count` questions of train in the place of dev, so that choices never see dev; with 0 all stays as it is.

    People are drawn, so nobody asked about in train is asked about in dev; who is asked about twice is drawn only if
    both questions still fit. key: where params.yaml has the count. Raises UserError: train has no more questions than
    are to be held out.
    """
    if not count:
        return questions
    train = questions["train"]
    if count >= len(train):
        raise UserError(f"params.yaml: {key}: was {count}; allowed: less than the {len(train)} training questions")
    rows = defaultdict[str, list[int]](list)  # by name
    for question in train:
        rows[question.name].append(question.row)
    names = sorted(rows)

    held: set[int] = set()
    for number in np.random.default_rng(SEED).permutation(len(names)):
        about = rows[names[number]]
        if len(held) + len(about) <= count:
            held.update(about)
    return questions | {
        "train": [question for question in train if question.row not in held],
        "dev": [question for question in train if question.row in held],
    }
