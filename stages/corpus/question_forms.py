"""The forms of a source's questions, read off the training questions: what stands around the name."""

from collections import Counter
from typing import NamedTuple

from stages.corpus.folding import around, folded
from stages.corpus.prepared import Prepared


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


def question_forms(prepared: Prepared) -> list[Form]:
    """All forms of the training questions, the commonest first; at least one."""
    asked = prepared.of_split("train")
    counts = Counter[Form]()
    for question, name in zip(asked.question, asked.name, strict=True):
        if name != question and (sides := around(question, name)):
            counts[Form(*sides)] += 1
    return [form for form, _ in counts.most_common()] or [Form("", "")]
