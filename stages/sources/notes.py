"""Notes on a user's own pages and questions that prove little: a line for each cause, with the first places."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from stages.corpus.folding import folded
from stages.corpus.question_forms import Form, form_of
from stages.corpus.questions import Question
from stages.corpus.titles import headings
from stages.settings.sources import OWN_FILES, OWN_PAGES
from stages.sources.audit import own_pages
from stages.sources.own import longest_title
from stages.sources.reading import SHOWN, read_lines
from stages.system.terminal import quoted

SEPARATOR = re.compile(r"[:。：．|;\t]|\.[^\S ]| [-–—] ")  # what people write between title and text in place of `. `
NEAR = 80  # the separator is looked for in so many characters of a page

HEADER = "ends as no other in its file, and names no page, though most others do: if it is a header row, remove it"
ALMOST = "names a page with other capitals or invisible characters: write it as its page does"
REVERSED = "names no page, and its answer is the title of one: a model finds a page by its title alone"
NOBODY = "names no page"
ABSENT = "has an answer that its page does not have"
TRAINED = "is a training question, too: the model has been told an answer"
OTHER_FORM = "is asked in a form that no training question has"
CAUSES = (HEADER, ALMOST, REVERSED, NOBODY, ABSENT, TRAINED, OTHER_FORM)


def notes(folder: Path, documents: list[str], questions: dict[str, list[Question]]) -> list[str]:
    """Write a line for each kind of page or question: how many, and where the first ones stand."""
    names = {question.name for rows in questions.values() for question in rows}
    ends = headings(documents, names).tolist()
    titles = [document[:end] for document, end in zip(documents, ends, strict=True)]
    check = _Check(documents, titles, questions)
    places: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for split, rows in check.asked.items():
        for question in rows:
            for cause in check.causes(split, question):
                places[cause].append(f"{folder / OWN_FILES[split]}:{question.row}")

    total = sum(map(len, check.asked.values()))
    lines = []
    if untitled := _untitled(folder / OWN_PAGES, documents, np.flatnonzero(np.equal(ends, 0)).tolist()):
        lines.append(f"{untitled}; {len(places.pop(NOBODY))} of {total} questions name no page")
    for cause, found in places.items():
        if found:
            most = cause == NOBODY and 2 * len(found) > total  # a fault of the pages, more likely
            which = f"; the title of the first page was read as {quoted(titles[0])}" if most else ""
            lines.append(f"{len(found)} of {total} questions: each {cause}{which} ({_first(found)})")
    return lines


class _Check:
    """Finds why a question proves little, given all of them."""

    def __init__(self, documents: list[str], titles: list[str], questions: dict[str, list[Question]]) -> None:
        """questions: by split; those without an answer are left out."""
        self.asked = {split: [row for row in rows if row.place is not None] for split, rows in questions.items()}
        self.titles = {_loose(title) for title in titles} - {""}
        self.pages = own_pages(documents, {question.name for rows in self.asked.values() for question in rows})
        self.trained = {question.question for question in questions["train"]}
        self.forms = {*map(_form, questions["train"])} - {None}

    def causes(self, split: str, question: Question) -> Iterator[str]:
        """Name the causes that hold for a question."""
        pages, answer = self.pages.get(question.name, []), folded(question.place or "")
        if not pages and self._is_header(self.asked[split], question):
            yield HEADER
            return
        if not pages:
            almost = longest_title(self.titles, _loose(question.question))
            yield ALMOST if almost else REVERSED if _loose(answer) in self.titles else NOBODY
        elif not any(answer in folded(page) for page in pages):
            yield ABSENT
        if split != "train" and question.question in self.trained:
            yield TRAINED
        if split != "train" and pages and self.forms and _form(question) not in self.forms:
            yield OTHER_FORM

    def _is_header(self, rows: Sequence[Question], question: Question) -> bool:
        """Whether a question without a page stands first and ends as no other, and most others name one."""
        if question is not rows[0] or question.question[-1] in {other.question[-1] for other in rows[1:]}:
            return False
        return 2 * sum(other.name in self.pages for other in rows) > len(rows)


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


def _form(question: Question) -> Form | None:
    """Read off what stands around the name, in one spelling."""
    return form_of(folded(question.question), folded(question.name))


def _loose(text: str) -> str:
    """Strip the text of capitals and invisible characters."""
    return "".join(letter for letter in folded(text).casefold() if unicodedata.category(letter) != "Cf")


def _first(places: list[str]) -> str:
    return ", ".join(places[:SHOWN]) + (", …" if len(places) > SHOWN else "")
