"""Facts: the dev questions whose place stands in the person's own page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from stages.corpus.prepared import Prepared


@dataclass(frozen=True)
class Fact:
    """Where a page tells the place that a question asks for."""

    row: int  # of the question in its file
    question: str
    name: str  # the page's heading, without its full stop
    page: str
    place: str
    position: int  # of the place in the page, in characters from its start


def dev_facts(prepared: Prepared, audit: pd.DataFrame, pages: Mapping[str, Sequence[str]]) -> list[Fact]:
    """The dev questions that the audit found answered in the person's own page, in the file's order.

    pages: each person's own, by name; of several it is the one that has the place at the audit's position.
    """
    asked = prepared.of_split("dev")
    known = audit[audit.split == "dev"].set_index("row").loc[asked.row]
    facts = []
    for row, question, name, place in zip(asked.row, asked.question, asked.name, asked.place, strict=True):
        if known.in_page[row]:
            position = int(known.position[row])
            page = next(page for page in pages[name] if page.find(place) == position)
            facts.append(Fact(int(row), question, name, page, place, position))
    return facts
