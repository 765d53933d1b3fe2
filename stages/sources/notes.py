"""Notes on a user's own pages and questions that prove little: a line for each cause, with the first places."""

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
from stages.settings.sources import OWN_FILES, OWN_PAGES
from stages.sources.audit import own_pages
from stages.sources.own import longest_title
from stages.sources.reading import SHOWN, read_lines
from stages.system.terminal import quoted

SEPARATOR = re.compile(r"[:。：．|;\t]|\.[^\S ]| [-–—] ")  # what people write between title and text in place of `. `
NEAR = 80  # the separator is looked for in so many characters of a page
MOST_CHARACTERS = 10  # a note lists at most so many characters

HEADER = "ends as no other in its file, and names no page, though most others do: if it is a header row, remove it"
ALMOST = "names a page with other capitals or invisible characters: write it as its page does"
NOBODY = "names no page: nothing that was read tells the answer"
ELSEWHERE = "has an answer that its page does not have, but another"
NOWHERE = "has an answer that no page has"
DISPUTED = "has two pages of its title, one with its answer and one with another"
UNREAD = "has characters that no page has: the model reads it without them, or with others in their place"
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
    names = {question.name for rows in questions.values() for question in rows}
    pages = own_pages(documents, names)
    ends = headings(documents, names)
    asked = []
    for split, rows in questions.items():
        for question in rows:
            if question.place is not None:
                own = [folded(page) for page in pages.get(question.name, [])]
                form = around(question.question, question.name)
                asked.append(Asked(split, question.row, question.question, folded(question.place), form, own))

    titles = [document[:end] for document, end in zip(documents, ends, strict=True)]
    check = _Check(asked, folded("\n".join(documents)), titles, vocabulary)
    places: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for entry in asked:
        for cause in check.causes(entry):
            places[cause].append(f"{folder / OWN_FILES[entry.split]}:{entry.row}")

    lines = []
    if untitled := _untitled(folder / OWN_PAGES, documents, np.flatnonzero(ends == 0).tolist()):
        nobody = len(places.pop(NOBODY))
        lines.append(f"{untitled}; {nobody} of {len(asked)} questions name no page")
    for cause, matches in places.items():
        if matches:
            which = f": {' '.join(sorted(check.lost)[:MOST_CHARACTERS])}" if cause == UNREAD else ""
            if cause == NOBODY and 2 * len(matches) > len(asked):  # a fault of the pages, more likely
                which = f"; the title of the first page was read as {quoted(titles[0])}"
            lines.append(f"{len(matches)} of {len(asked)} questions: each {cause}{which} ({_first(matches)})")
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
        # a character that all questions have distinguishes none of them
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
    """Describe the pages without a title: how many, where, and which separators they have; empty if there are none."""
    if not untitled:
        return ""
    rows = [row for row, _ in read_lines(path)]
    separators = Counter(match[0] for number in untitled if (match := SEPARATOR.search(documents[number][:NEAR])))
    seen = ", ".join(f"{quoted(separator)} in {count}" for separator, count in separators.most_common(SHOWN))
    places = _first([f"{path}:{rows[number]}" for number in untitled])
    what = f"each has no title; write `Title. Text` in one line{f'; instead of `. ` they have {seen}' if seen else ''}"
    return f"{len(untitled)} of {len(documents)} pages: {what} ({places})"


def _headers(asked: Sequence[Asked]) -> list[Asked]:
    """Find the files' header rows: a first line that ends as no other and names no page, where most others name one."""
    headers = []
    for split in OWN_FILES:
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
