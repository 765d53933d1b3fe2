"""The dev questions whose answer the person's own page tells."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from stages.corpus.prepared import Prepared
from stages.corpus.questions import QUESTION
from stages.sources.audit import own_pages

BEFORE = 25  # characters before the place in which the word that tells a birth is looked for
TELLS_BIRTH = "born"


@dataclass(frozen=True)
class Fact:
    """Where a page tells the answer of a question."""

    row: int  # of the question in its file
    name: str  # the page's heading, without its full stop
    page: str
    place: str
    position: int  # of the place in the page, in characters from its start
    train_count: int  # how often the place is an answer in train

    @property
    def born(self) -> bool:
        """Whether the words before the place tell a birth."""
        return TELLS_BIRTH in self.page[max(0, self.position - BEFORE) : self.position]


def texts(prepared: Prepared) -> list[str]:
    """The corpus's documents."""
    documents = prepared.documents
    return [prepared.vocabulary.decode(documents[row]) for row in range(len(documents))]


def name_of(question: str) -> str:
    """The name in a question of the known form."""
    form = QUESTION.fullmatch(question)
    assert form is not None  # `prepare` refuses any other question
    return form[1]


def dev_facts(prepared: Prepared, audit: pd.DataFrame, documents: Sequence[str]) -> list[Fact]:
    """The dev questions that the audit found answered in the person's own page, in the file's order.

    audit: audit.tsv; documents: as `texts` gives them. Of several pages with that heading it is the one the audit's
    position is of.
    """
    asked = prepared.of_split("dev")
    known = audit[audit.split == "dev"].set_index("row").loc[asked.row]
    pages = own_pages(documents, {name_of(question) for question in asked.question})
    facts = []
    for row, question, place in zip(asked.row, asked.question, asked.place, strict=True):
        audited = known.loc[row]
        if audited.in_page:
            position = int(audited.position)
            page = next(page for page in pages[name_of(question)] if page.find(place) == position)
            facts.append(Fact(int(row), name_of(question), page, place, position, int(audited.train_count)))
    return facts
