"""What can be known: whether the person's own page has the answer to a question, and where."""

from collections import Counter
from collections.abc import Collection, Sequence

import pandas as pd

from stages.corpus.prepared import AUDIT
from stages.corpus.questions import Question
from stages.corpus.text import Vocabulary, folded, headings


def audit(documents: Sequence[str], questions: dict[str, list[Question]], vocabulary: Vocabulary) -> pd.DataFrame:
    """List the questions of all splits, a row each:

    has_page: 1 if a document's title is the person's name;
    in_page: 1 if such a document holds the place, in any spelling (see `corpus.text`);
    position: where in the document the place stands first as written, counted from 0; -1 if nowhere;
    train_count: how many training questions the place answers;
    unknown: how many characters of the question the vocabulary lacks.

    in_page, position and train_count are 0, -1 and 0 where the place is unknown (most tests).
    """
    pages = own_pages(documents, {question.name for asked in questions.values() for question in asked})
    answers = Counter(question.place for question in questions["train"] if question.place)
    rows = []
    for split, asked in questions.items():
        for question in asked:
            own = pages.get(question.name, [])
            place = question.place
            position = min((page.index(place) for page in own if place and place in page), default=-1)
            in_page = position >= 0 or any(place and folded(place) in folded(page) for page in own)
            facts = int(bool(own)), int(in_page), position, answers[place or ""]
            rows.append((split, question.row, *facts, len(vocabulary.unknown(question.question))))
    return pd.DataFrame(rows, columns=[*AUDIT])


def own_pages(documents: Sequence[str], names: Collection[str]) -> dict[str, list[str]]:
    """Find the documents whose title is a name, by name, in any spelling; not all have one."""
    pages: dict[str, list[str]] = {}  # by folded title
    for document, end in zip(documents, headings(documents, names), strict=True):
        pages.setdefault(folded(document[:end]), []).append(document)
    return {name: pages[folded(name)] for name in names if folded(name) in pages}
