"""Notes on pages and questions of one's own that prove little: a line for each cause, with the first places."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from stages.corpus.folding import around, folded
from stages.corpus.questions import Question
from stages.corpus.titles import headings
from stages.corpus.vocabulary import Vocabulary
from stages.sources.audit import own_pages
from stages.sources.own import FILES, PAGES, longest_title
from stages.sources.reading import SHOWN, read_lines
from stages.system.terminal import quoted

SEPARATOR = re.compile(r"[:。：．|;\t]|\.[^\S ]| [-–—] ")  # what may stand between title and text, but for `. `
NEAR = 80  # characters of a page in which it is looked for
MOST_CHARACTERS = 10  # are named

HEADER = "ends as no other in its file, and names no page as most others do: a header row? Remove it"
ALMOST = "names a page but for capitals or invisible characters: write it as its page does"
NOBODY = "names no page: nothing that was read tells the answer"
ELSEWHERE = "has an answer that its page does not have, but another"
NOWHERE = "has an answer that no page has"
DISPUTED = "has two pages of its title, one with its answer and one with another"
UNREAD = "has characters that no page has: the model reads it without them"
TRAINED = "is a training question, too: the model has been told an answer"
CAUSES = (HEADER, ALMOST, NOBODY, ELSEWHERE, NOWHERE, DISPUTED, UNREAD, TRAINED)


@dataclass(frozen=True)
class Asked:
    """A question with an answer: where it stands, and the pages of its name, folded."""

    split: str
    row: int
    text: str
    answer: str  # folded
    form: tuple[str, str] | None  # what stands around the name: questions that share it ask for the same kind of thing
    pages: list[str]


def notes(
    folder: Path, documents: list[str], questions: dict[str, list[Question]], vocabulary: Vocabulary
) -> list[str]:
    """Write a line for each kind of page or question: how many, and where the first ones stand."""
    names = {question.name for some in questions.values() for question in some}
    pages = own_pages(documents, names)
    ends = headings(documents, names)
    asked = []
    for split, some in questions.items():
        for question in some:
            if question.place is not None:
                own = [folded(page) for page in pages.get(question.name, [])]
                form = around(question.question, question.name)
                asked.append(Asked(split, question.row, question.question, folded(question.place), form, own))

    titles = [document[:end] for document, end in zip(documents, ends, strict=True)]
    check = _Check(asked, folded("\n".join(documents)), titles, vocabulary)
    places: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for entry in asked:
        for cause in check.causes(entry):
            places[cause].append(f"{folder / FILES[entry.split]}:{entry.row}")

    lines = []
    if untitled := _untitled(folder / PAGES, documents, np.flatnonzero(ends == 0).tolist()):
        nobody = len(places.pop(NOBODY))
        lines.append(f"{untitled}; {nobody} of {len(asked)} questions name no page")
    for cause, where in places.items():
        if where:
            which = f": {' '.join(sorted(check.lost)[:MOST_CHARACTERS])}" if cause == UNREAD else ""
            lines.append(f"{len(where)} of {len(asked)} questions: each {cause}{which} ({_first(where)})")
    return lines


class _Check:
    """Finds why a question proves little, given all of them."""

    def __init__(self, asked: Sequence[Asked], corpus: str, titles: Sequence[str], vocabulary: Vocabulary) -> None:
        """corpus: all pages, folded."""
        self.corpus = corpus
        self.vocabulary = vocabulary
        self.titles = {_loose(title) for title in titles} - {""}
        self.headers = _headers(asked)
        self.trained = {question.text for question in asked if question.split == "train"}
        self.answers = defaultdict[object, set[str]](set)  # to training questions, by form
        for question in asked:
            if question.split == "train":
                self.answers[question.form].add(question.answer)
        unread = [{*vocabulary.unknown(question.text)} for question in asked if question.pages]
        # what all questions have tells none from another
        self.lost = {letter for letter, count in Counter(chain(*unread)).items() if count < len(unread)}

    def causes(self, question: Asked) -> Iterator[str]:
        """Name the causes that hold for a question with an answer."""
        silent = [page for page in question.pages if question.answer not in page]
        is_header = question in self.headers
        if is_header:
            yield HEADER
        elif not question.pages:
            yield ALMOST if longest_title(self.titles, _loose(question.text)) else NOBODY
        elif len(silent) == len(question.pages):
            yield ELSEWHERE if question.answer in self.corpus else NOWHERE
        elif any(answer in page for page in silent for answer in self.answers[question.form]):
            yield DISPUTED
        if question.pages and self.lost.intersection(self.vocabulary.unknown(question.text)):
            yield UNREAD
        if question.split != "train" and question.text in self.trained and not is_header:
            yield TRAINED


def _untitled(path: Path, documents: list[str], untitled: list[int]) -> str:
    """Say how many pages have no title, where, and what stands for its full stop; nothing if all have one."""
    if not untitled:
        return ""
    rows = [row for row, _ in read_lines(path)]
    separators = Counter(match[0] for number in untitled if (match := SEPARATOR.search(documents[number][:NEAR])))
    seen = ", ".join(f"{quoted(separator)} in {count}" for separator, count in separators.most_common(SHOWN))
    places = _first([f"{path}:{rows[number]}" for number in untitled])
    what = f"each has no title; write `Title. Text` in one line{f'; instead of `. ` they have {seen}' if seen else ''}"
    return f"{len(untitled)} of {len(documents)} pages: {what} ({places})"


def _headers(asked: Sequence[Asked]) -> list[Asked]:
    """Find the first question of a file that alone has its last character and names no page as most others do."""
    headers = []
    for split in FILES:
        rows = [question for question in asked if question.split == split]
        ends = {question.text[-1] for question in rows[1:]}
        named = sum(bool(question.pages) for question in rows)
        if 2 * named > len(rows) and not rows[0].pages and rows[0].text[-1] not in ends:
            headers.append(rows[0])
    return headers


def _loose(text: str) -> str:
    """Strip the text of capitals and invisible characters."""
    return "".join(letter for letter in folded(text).casefold() if unicodedata.category(letter) != "Cf")


def _first(places: list[str]) -> str:
    return ", ".join(places[:SHOWN]) + (", …" if len(places) > SHOWN else "")
