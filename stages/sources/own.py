"""Pages and questions of one's own: a page a line, `Title. Text`, and questions of any form that name a title."""

from bisect import bisect_right
from collections.abc import Callable
from os.path import commonprefix
from pathlib import Path

import pandas as pd

from stages.corpus.folding import folded
from stages.corpus.questions import Question
from stages.corpus.titles import possible_titles
from stages.sources.reading import Asked, read_documents, read_questions

PAGES = "pages.txt"
FILES = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}  # the last one may be missing
SHOWN = 3  # places of a fault
NOTES: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "names no page: nothing that was read tells the answer": lambda known: known.has_page == 0,
    "has an answer that its page does not have": lambda known: known.has_page > known.in_page,
    "has characters that no page has: the model reads it without them": lambda known: known.unknown > 0,
    "is a training question, too: the model has been told an answer": lambda known: known.trained,
}


def read_own(folder: Path, context: int) -> tuple[list[str], dict[str, list[Question]]]:
    """The pages of a folder, and its questions by split; a question's name is the longest title in it.

    A title is found in any spelling (see `folding`); the name is spelled as in its page. Raises StudyError: a file is
    missing or faulty, or a question does not fit into `context`.
    """
    documents = read_documents(folder / PAGES)
    titles = {"": ""}
    for title in (title for document in documents for title in possible_titles(document)):
        titles.setdefault(folded(title), title)
    ordered = sorted(titles)
    # a question that names none is about itself; one that is longer than the context is refused
    asked = Asked(
        "a question that names a page", lambda told: titles[longest_title(ordered, folded(told[:context]))] or told
    )
    questions = {
        split: read_questions(
            folder / name, labelled=None if split == "test" else True, context=context, one_place=True, asked=asked
        )
        for split, name in FILES.items()
        if split != "test" or (folder / name).exists()
    }
    return documents, {"test": [], **questions}


def longest_title(titles: list[str], question: str) -> str:
    """The longest of the titles in a question, of those as long the first; titles: sorted, an empty one among them."""
    longest = ""
    for start in range(len(question)):
        rest = question[start:]
        # in order, all that stands between a title and a text that begins with it begins with it, too
        while not rest.startswith(title := titles[bisect_right(titles, rest) - 1]):
            rest = commonprefix([rest, title])  # noqa: RUF071  # of letters, as is meant
        longest = max(longest, title, key=len)
    return longest


def notes(folder: Path, questions: dict[str, list[Question]], known: pd.DataFrame) -> list[str]:
    """A line for each kind of question whose answer proves little: how many, and where the first ones stand.

    known: the audit's table of these questions.
    """
    train = {question.question for question in questions["train"]}
    trained = [split == "dev" and each.question in train for split, asked in questions.items() for each in asked]
    known = known.assign(trained=trained)[known.split != "test"]
    told = []
    for what, concerns in NOTES.items():
        found = known[concerns(known)]
        places = [f"{folder / FILES[split]}:{row}" for split, row in zip(found.split, found.row, strict=True)]
        if places:
            more = ", …" if len(places) > SHOWN else ""
            told.append(f"{len(places)} of {len(known)} questions: each {what} ({', '.join(places[:SHOWN])}{more})")
    return told
