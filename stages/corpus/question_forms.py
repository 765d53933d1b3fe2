"""The forms of a source's questions, read off the training questions: what stands around the name."""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from stages.corpus.prepared import Prepared
from stages.corpus.text import around, folded

NAME = "NAME"  # stands for the name where a form is written


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


def question_forms(prepared: Prepared) -> list[Form]:
    """All forms of the training questions, the commonest first; at least one."""
    asked = prepared.of_split("train")
    counts = Counter(form for row in zip(asked.question, asked.name, strict=True) if (form := form_of(*row)))
    return [form for form, _ in counts.most_common()] or [Form("", "")]


def written_forms(asked: pd.DataFrame) -> list[str]:
    """Write the form of each question (columns question, name), with NAME for the name; empty where it has none.

    Spellings of one form count as one.
    """
    forms = (form_of(folded(question), folded(name)) for question, name in zip(asked.question, asked.name, strict=True))
    return [form.about(NAME) if form else "" for form in forms]
