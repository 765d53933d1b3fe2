"""The forms of a source's questions, read off the training questions: what stands around the name."""

from collections import Counter
from typing import NamedTuple

from stages.corpus.prepared import Prepared


class Form(NamedTuple):
    """A question is `before`, the name, `after`."""

    before: str
    after: str

    def about(self, name: str) -> str:
        """The question of this form about a name."""
        return f"{self.before}{name}{self.after}"

    def name(self, question: str) -> str | None:
        """Whom a question asks about; None if it has another form."""
        name = question.removeprefix(self.before).removesuffix(self.after)
        return name if name and name == name.strip() and self.about(name) == question else None


def question_forms(prepared: Prepared) -> list[Form]:
    """All forms of the training questions, the commonest first; at least one."""
    asked = prepared.of_split("train")
    found = Counter(
        Form(*question.split(name, 1))
        for question, name in zip(asked.question, asked.name, strict=True)
        if name in question and name != question
    )
    return [form for form, _ in found.most_common()] or [Form("", "")]
